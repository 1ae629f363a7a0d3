#!/usr/bin/python3
"""Fails when a group of published measurements is predicted worse than its limit in limits.toml allows.

usage: run.py PATH/TO/clustersim
"""

import sys
import tomllib

import report as reports


def file_of(limit: dict) -> str:
    return limit.get("file", reports.evidence)


def check(report: dict, limit: dict) -> list[str]:
    where = f"{file_of(limit)}: {limit['quantity']} of {limit['by']} {limit.get('name', '')}".strip()
    figures = reports.group(report, limit["by"], limit.get("name", ""), limit["quantity"])
    if figures is None:
        return [f"{where}: no such group"]
    problems = []
    if reports.scored(figures) < limit["rows_at_least"]:
        problems.append(f"{where}: {reports.scored(figures)} rows scored, {limit['rows_at_least']} before")
    if figures["failed"] > 0:
        problems.append(f"{where}: {figures['failed']} rows failed")
    for key in ("mape", "median_ape"):
        allowed = limit.get(f"{key}_at_most")
        if allowed is not None and (figures[key] is None or figures[key] > allowed):
            problems.append(f"{where}: {key} is {figures[key]:.2f} %, at most {allowed} allowed")
    return problems


def main() -> int:
    limits = tomllib.loads((reports.here / "limits.toml").read_text())["limit"]
    found = {file: reports.load(sys.argv[1], file) for file in dict.fromkeys(map(file_of, limits))}
    problems = [problem for limit in limits for problem in check(found[file_of(limit)], limit)]
    for problem in problems:
        print(problem)
    print(f"{len(limits)} groups checked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
