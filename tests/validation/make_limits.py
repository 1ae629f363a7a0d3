#!/usr/bin/python3
"""Writes limits.toml: the error of each group of measurements today, plus one point.

usage: make_limits.py PATH/TO/clustersim [--raise]

Limits only fall and groups only join, unless --raise lets them follow the predictions up: then the
commit message owes the reason.
"""

import sys
import tomllib

import report as reports

path = reports.here / "limits.toml"
least_rows = 5  # smaller groups say more about their rows than about the law
margin = 1.0  # points of per cent
head = """# The error that each group may have, in percent. Written by make_limits.py: what was
# measured when the limit was set, plus one point. Limits fall when predictions improve; raising one
# needs a reason in the commit message.
limit = [
"""


def key(limit: dict) -> tuple:
    return limit["file"], limit["quantity"], limit["by"], limit.get("name", "")


def bounded(kind: str) -> tuple[str, ...]:
    """Groups with a limit: training runs differ by source, kernels by what is timed."""
    if kind == reports.runs:
        return "core", "source"
    return "chip", "precision", "library", "condition", "size", "system", "work"


def today(report: dict) -> list[dict]:
    limits = []
    for kind in (reports.runs, *reports.kernels):
        file = reports.of_kind(report, kind)
        entries = [{"by": "all", "name": "", "quantity": quantity, **figures}
                   for quantity, figures in file["summary"].items()]
        entries += [group for group in file["groups"] if group["by"] in bounded(kind)]
        for entry in entries:
            if reports.scored(entry) >= least_rows:
                limits.append({"file": kind, "quantity": entry["quantity"], "by": entry["by"],
                               "name": entry["name"], "rows_at_least": reports.scored(entry),
                               "mape_at_most": round(entry["mape"] + margin, 1),
                               "median_ape_at_most": round(entry["median_ape"] + margin, 1)})
    return limits


def lower(limit: dict, before: dict | None) -> dict:
    if before is None:
        return limit
    merged = dict(limit)
    merged["rows_at_least"] = max(limit["rows_at_least"], before["rows_at_least"])
    for name in ("mape_at_most", "median_ape_at_most"):
        merged[name] = min(limit[name], before[name])
    return merged


def quoted(value: object) -> str:
    return str(value) if isinstance(value, (int, float)) else '"' + str(value).replace('"', '\\"') + '"'


def line(limit: dict) -> str:
    return "  { " + ", ".join(f"{name} = {quoted(value)}" for name, value in limit.items()) + " },\n"


def main() -> int:
    before = []
    if path.exists() and "--raise" not in sys.argv[2:]:
        before = tomllib.loads(path.read_text())["limit"]
    known = {key(limit): limit for limit in before}
    limits = [lower(limit, known.pop(key(limit), None)) for limit in today(reports.load(sys.argv[1]))]
    limits += known.values()  # a group that is gone is for run.py to complain about
    path.write_text(head + "".join(line(limit) for limit in limits) + "]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
