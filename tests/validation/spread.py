#!/usr/bin/python3
"""Whether the spreads that step times' ranges are made of are those of the evidence: spread.toml.

usage: spread.py PATH/TO/clustersim [--print | --update]

A spread s is what makes ±1.28 s hold four of five rows: the 80 % quantile of |ln(measured / predicted)|, divided
by 1.28 (docs/explanation/uncertainty.md). spread.toml says which rows speak for which file. Exit status 1 when
the figure in a file is off by more than a tenth of itself or 0.01; --update writes new ones.
"""

import csv
import fnmatch
import math
import re
import sys
import tomllib

import report as reports

four_of_five = 1.2816  # standard deviations of a normal distribution
least_rows = 20


def rows_of(report: dict, kind: str) -> list[tuple[dict, dict]]:
    """Scored rows with what the file says about them."""
    file = reports.of_kind(report, kind)
    with open(reports.root / file["path"], newline="") as stream:
        evidence = list(csv.DictReader(stream))
    return [(evidence[row["index"]], row) for row in file["rows"] if row["status"] == "ok"]


def is_large(kind: str, evidence: dict) -> bool:
    """Of the size that training steps are made of: spread.toml."""
    if kind == "gemm":
        m, n, k, batch = (float(evidence[key] or 1) for key in ("M", "N", "K", "batch"))
        return min(m, n, k) >= 256 and 2 * m * n * k * batch >= 50e9
    return kind != "collectives" or float(evidence["bytes"]) >= 10e6


def spread_of(report: dict, entry: dict) -> tuple[float, int]:
    sizes = []
    for kind in entry["kinds"]:
        column = "system" if kind == "collectives" else "chip"
        for evidence, row in rows_of(report, kind):
            named = any(fnmatch.fnmatchcase(evidence[column], glob) for glob in entry["rows"])
            if named and is_large(kind, evidence):
                sizes.append(abs(math.log(row["ratio"])))
    if len(sizes) < least_rows:
        raise SystemExit(f"{entry['file']}: {len(sizes)} rows are too few to speak of a spread")
    return sorted(sizes)[int(0.8 * len(sizes))] / four_of_five, len(sizes)


def stated(entry: dict) -> float:
    value = tomllib.loads((reports.root / entry["file"]).read_text())
    for key in entry["key"].split("."):
        value = value[key]
    return value["value"] if isinstance(value, dict) else value


def update(entry: dict, measured: float) -> None:
    path = reports.root / entry["file"]
    key = entry["key"].split(".")[-1]
    text, count = re.subn(rf"(?m)^({key}\s*=\s*\{{ value = )[\d.]+", rf"\g<1>{measured:.3f}", path.read_text())
    if count != 1:
        raise SystemExit(f"{entry['file']}: {count} places for {entry['key']}")
    path.write_text(text)


def main() -> int:
    report = reports.load(sys.argv[1])
    entries = tomllib.loads((reports.here / "spread.toml").read_text())["spread"]
    problems = 0
    for entry in entries:
        measured, count = spread_of(report, entry)
        value = stated(entry)
        if "--print" in sys.argv[2:]:
            print(f"{entry['file']} {entry['key']}: {measured:.3f} of {count} rows")
        elif abs(value - measured) > max(0.1 * measured, 0.01):
            problems += 1
            print(f"{entry['file']}: {entry['key']} is {value}, {measured:.3f} of {count} rows")
            if "--update" in sys.argv[2:]:
                update(entry, measured)
    print(f"{len(entries)} spreads checked, {problems} problems")
    return 1 if problems and "--update" not in sys.argv[2:] else 0


if __name__ == "__main__":
    sys.exit(main())
