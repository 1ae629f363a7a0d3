#!/usr/bin/python3
"""Fails when a group of published measurements is predicted worse than its limit allows: limits.toml.

usage: run.py PATH/TO/clustersim
"""

import sys
import tomllib

import report as reports


def check(report: dict, limit: dict) -> list[str]:
    file = reports.of_kind(report, limit["file"])
    where = f"{file['kind']}: {limit['quantity']} of {limit['by']} {limit.get('name', '')}".strip()
    figures = reports.group(file, limit["by"], limit.get("name", ""), limit["quantity"])
    if figures is None:
        return [f"{where}: no such group"]
    problems = []
    if reports.scored(figures) < limit["rows_at_least"]:
        problems.append(f"{where}: {reports.scored(figures)} rows scored, {limit['rows_at_least']} before")
    if figures["failed"] > 0:
        problems.append(f"{where}: {figures['failed']} rows failed")
    for key in ("mape", "median_ape"):
        allowed = limit.get(f"{key}_at_most")
        if allowed is None:
            continue
        if figures[key] is None:
            problems.append(f"{where}: no row is scored")
        elif figures[key] > allowed:
            problems.append(f"{where}: {key} is {figures[key]:.2f} %, at most {allowed} allowed")
    return problems


def limits() -> list[dict]:
    return tomllib.loads((reports.here / "limits.toml").read_text())["limit"]


def main() -> int:
    report = reports.load(sys.argv[1])
    known = limits()
    problems = [problem for limit in known for problem in check(report, limit)]
    for problem in problems:
        print(problem)
    print(f"{len(known)} groups checked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
