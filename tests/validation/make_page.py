#!/usr/bin/python3
"""Writes docs/validation.md from what `clustersim validate` finds.

usage: make_page.py PATH/TO/clustersim [--check]

With --check nothing is written; the exit status is 1 when the page is not what would be written.
Sentences about single rows come from remarks.toml: the machine has figures, not reasons.
"""

import fnmatch
import sys
import tomllib

import report as reports

page = reports.root / "docs" / "validation.md"
columns = "| {} | rows | scored | mean abs. error | median | 90th percentile | bias |\n|---|---|---|---|---|---|---|\n"
titles = {"source": "Source", "chip": "Chip", "precision": "Precision", "stack": "Software stack",
          "scale": "Chips in the job", "core": "Nothing guessed?"}
worst_count = 15


def percent(value: float | None, sign: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:+.1f} %" if sign else f"{value:.1f} %"


def line(name: str, figures: dict) -> str:
    return "| {} | {} | {} | {} | {} | {} | {} |\n".format(
        name, figures["rows"], reports.scored(figures), percent(figures["mape"]),
        percent(figures["median_ape"]), percent(figures["p90_ape"]), percent(figures["bias"], True))


def group_table(report: dict, by: str, quantity: str) -> str:
    chosen = [g for g in report["groups"]
              if g["by"] == by and g["quantity"] == quantity and reports.scored(g) > 0]
    return columns.format(titles[by]) + "".join(line(g["name"], g) for g in chosen) + "\n"


def rows_of(report: dict, quantity: str, status: str) -> list[dict]:
    return [row for file in report["files"] for row in file["rows"]
            if row["quantity"] == quantity and row["status"] == status]


def remark(row: dict, remarks: list[dict]) -> str:
    for entry in remarks:
        if any(fnmatch.fnmatchcase(row["id"], glob) for glob in entry["rows"]):
            return entry["says"]
    return "Not understood yet."


def worst(report: dict, quantity: str, remarks: list[dict]) -> str:
    rows = sorted(rows_of(report, quantity, "ok"), key=lambda r: (-abs(r["ratio"] - 1), r["id"]))
    text = "| row | predicted | measured | error | likely reason |\n|---|---|---|---|---|\n"
    for row in rows[:worst_count]:
        error = percent(100 * (row["ratio"] - 1), True)
        text += "| {} | {:.4g} {u} | {:.4g} {u} | {} | {} |\n".format(
            row["id"], row["predicted"], row["measured"], error, remark(row, remarks), u=row["unit"])
    return text + "\n"


def reasons(report: dict) -> str:
    counts: dict[str, int] = {}
    for row in rows_of(report, "step_time", "skipped"):
        counts[row["reason"]] = counts.get(row["reason"], 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    text = "| rows | reason |\n|---|---|\n"
    return text + "".join(f"| {count} | {reason} |\n" for reason, count in ordered) + "\n"


def failures(report: dict) -> str:
    failed = [row for q in report["summary"] for row in rows_of(report, q, "failed")]
    if not failed:
        return "No row in scope failed to run.\n\n"
    return "".join(f"* `{row['id']}` ({row['quantity']}): {row['reason']}\n" for row in failed) + "\n"


def write(report: dict) -> str:
    remarks_file = tomllib.loads((reports.here / "remarks.toml").read_text())
    text = (reports.here / "page_intro.md").read_text()
    text += "## Summary\n\n" + columns.format("Quantity")
    text += "".join(line(f"{quantity}, all", figures) for quantity, figures in report["summary"].items())
    for quantity in report["summary"]:
        core = reports.group(report, "core", "core", quantity)
        if core:
            text += line(f"{quantity}, core rows", core)
    text += "\n## Step time\n\n"
    for by in ("source", "chip", "precision", "stack", "scale", "core"):
        text += group_table(report, by, "step_time")
    text += "## Step time: the worst rows\n\n" + worst(report, "step_time", remarks_file["step_time"])
    text += "## Peak memory\n\n" + group_table(report, "source", "peak_memory")
    text += worst(report, "peak_memory", remarks_file["peak_memory"])
    text += "## Failed\n\n" + failures(report)
    return text + "## Skipped, and why\n\n" + reasons(report).rstrip("\n") + "\n"


def main() -> int:
    text = write(reports.load(sys.argv[1]))
    if "--check" in sys.argv[2:]:
        fresh = page.exists() and page.read_text() == text
        print(f"{page.relative_to(reports.root)} is {'fresh' if fresh else 'stale: run tests/validation/make_page.py'}")
        return 0 if fresh else 1
    page.parent.mkdir(exist_ok=True)
    page.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
