#!/usr/bin/python3
"""Writes docs/validation.md from what `clustersim validate` finds.

usage: make_page.py PATH/TO/clustersim [--check]

With --check nothing is written; the exit status is 1 when the page is not what would be written.
Sentences about single rows come from remarks.toml: the machine has figures, not reasons.
"""

import fnmatch
import statistics
import sys
import tomllib

import hold_out
import report as reports

page = reports.root / "docs" / "validation.md"
columns = "| {} | rows | scored | mean abs. error | median | 90th percentile | bias |\n|---|---|---|---|---|---|---|\n"
titles = {"source": "Source", "chip": "Chip", "precision": "Precision", "library": "Library",
          "condition": "Condition", "size": "Size", "stack": "Software stack",
          "scale": "Chips in the job", "system": "System", "work": "Work", "core": "Nothing guessed?"}
kernel_titles = {"gemm": "GEMM", "attention": "Attention", "kernels": "Memory-bound kernels",
                 "membw": "Bandwidth of memories", "power": "Performance under a power cap",
                 "collectives": "Collectives", "all-reduce": "All-reduce, vTrain's table"}
worst_count = 15


def percent(value: float | None, sign: bool = False) -> str:
    if value is None:
        return "–"
    return f"{value:+.1f} %" if sign else f"{value:.1f} %"


def line(name: str, figures: dict) -> str:
    return "| {} | {} | {} | {} | {} | {} | {} |\n".format(
        name, figures["rows"], reports.scored(figures), percent(figures["mape"]),
        percent(figures["median_ape"]), percent(figures["p90_ape"]), percent(figures["bias"], True))


def group_table(file: dict, by: str, quantity: str) -> str:
    chosen = [g for g in file["groups"]
              if g["by"] == by and g["quantity"] == quantity and reports.scored(g) > 0]
    if not chosen:
        return ""
    return columns.format(titles[by]) + "".join(line(g["name"], g) for g in chosen) + "\n"


def rows_of(file: dict, quantity: str, status: str) -> list[dict]:
    return [row for row in file["rows"] if row["quantity"] == quantity and row["status"] == status]


def remark(row: dict, remarks: list[dict]) -> str:
    for entry in remarks:
        if any(fnmatch.fnmatchcase(row["id"], glob) for glob in entry["rows"]):
            return entry["says"]
    return "Not understood yet."


def worst(file: dict, quantity: str, remarks: list[dict]) -> str:
    rows = sorted(rows_of(file, quantity, "ok"), key=lambda r: (-abs(r["ratio"] - 1), r["id"]))
    text = "| row | predicted | measured | error | likely reason |\n|---|---|---|---|---|\n"
    for row in rows[:worst_count]:
        error = percent(100 * (row["ratio"] - 1), True)
        text += "| {} | {:.4g} {u} | {:.4g} {u} | {} | {} |\n".format(
            row["id"], row["predicted"], row["measured"], error, remark(row, remarks), u=row["unit"])
    return text + "\n"


def reasons(file: dict, quantity: str) -> str:
    counts: dict[str, int] = {}
    for row in rows_of(file, quantity, "skipped"):
        counts[row["reason"]] = counts.get(row["reason"], 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    text = "| rows | reason |\n|---|---|\n"
    return text + "".join(f"| {count} | {reason} |\n" for reason, count in ordered) + "\n"


def failures(report: dict) -> str:
    failed = [row for file in report["files"] for row in file["rows"] if row["status"] == "failed"]
    if not failed:
        return "No row in scope failed to run.\n\n"
    return "".join(f"* `{row['id']}` ({row['quantity']}): {row['reason']}\n" for row in failed) + "\n"


def summary(report: dict) -> str:
    text = columns.format("Quantity")
    runs = reports.of_kind(report, reports.runs)
    text += "".join(line(f"{quantity}, all", figures) for quantity, figures in runs["summary"].items())
    for quantity in runs["summary"]:
        core = reports.group(runs, "core", "core", quantity)
        if core:
            text += line(f"{quantity}, core rows", core)
    for kind in reports.kernels:
        for quantity, figures in reports.of_kind(report, kind)["summary"].items():
            text += line(f"{quantity}: {kernel_titles[kind]}", figures)
    return text


def left_out() -> str:
    """The table that fit_stacks.py left: scalars set in three ways."""
    result = tomllib.loads((reports.here / "leave_one_out.toml").read_text())
    pair = result["global_pair"]
    text = ("## Scalars set on these rows, and on others\n\n"
            "Mean absolute error, median and bias, in percent, when the two scalars of each stack are: one pair for all "
            f"({pair['host_us']} µs, {pair['class_factor']}); set on the stack's own rows, as its file has them; set without "
            "the rows of the source that is scored. Written by `tests/validation/fit_stacks.py`; "
            "[accuracy](explanation/accuracy.md) explains it.\n\n"
            "| rows | scored | one pair for all | own pair | source left out |\n|---|---|---|---|---|\n")
    for entry in result["set"]:
        cells = (f"{w['mape']:.1f} / {w['median_ape']:.1f} / {w['bias']:+.1f}"
                 for w in (entry["global"], entry["own"], entry["left_out"]))
        text += f"| {entry['name']} | {entry['own']['rows']} | {' | '.join(cells)} |\n"
    return text + "\n"


def ranges(runs: dict) -> str:
    rows = [row for row in rows_of(runs, "step_time", "ok") if row["low"] and row["high"]]
    width = statistics.median(100 * ((row["high"] / row["low"]) ** 0.5 - 1) for row in rows)
    core = reports.group(runs, "core", "core", "step_time")
    return (f"Predicted ranges hold {percent(runs['summary']['step_time']['in_range'])} of the scored steps, "
            f"{percent(core['in_range'])} of core ones; their half-width is {percent(width)} in the median.\n")


def kernel_section(file: dict, remarks: dict) -> str:
    text = f"## {kernel_titles[file['kind']]}\n\n"
    for quantity in file["summary"]:
        for by in ("system", "work", "chip", "precision", "library", "condition", "size"):
            text += group_table(file, by, quantity)
        text += "The worst rows:\n\n" + worst(file, quantity, remarks.get(file["kind"], []))
        skipped = reasons(file, quantity)
        if skipped.count("\n") > 3:
            text += "Skipped, and why:\n\n" + skipped
    return text


def held_out(pairs: list[tuple[dict, dict, dict]]) -> str:
    text = ("## GEMM: chips predicted from a sibling\n\nAll rows of a chip, with constants that none of them "
            "shaped (`tests/validation/hold_out.py`).\n\n| Chip | from | rows | mean abs. error | median | bias | "
            "mean with its own |\n|---|---|---|---|---|---|---|\n")
    for pair, sibling, own in pairs:
        text += "| {} | {} | {} | {} | {} | {} | {} |\n".format(
            pair["name"], pair["from"], reports.scored(sibling), percent(sibling["mape"]),
            percent(sibling["median_ape"]), percent(sibling["bias"], True), percent(own["mape"]))
    return text + "\n"


def write(report: dict, pairs: list[tuple[dict, dict, dict]]) -> str:
    remarks_file = tomllib.loads((reports.here / "remarks.toml").read_text())
    runs = reports.of_kind(report, reports.runs)
    text = (reports.here / "page_intro.md").read_text()
    text += "## Summary\n\n" + summary(report) + "\n" + ranges(runs)
    text += "\n## Step time\n\n"
    for by in ("source", "chip", "precision", "stack", "scale", "core"):
        text += group_table(runs, by, "step_time")
    text += left_out()
    text += "## Step time: the worst rows\n\n" + worst(runs, "step_time", remarks_file["step_time"])
    text += "## Peak memory\n\n" + group_table(runs, "source", "peak_memory")
    text += worst(runs, "peak_memory", remarks_file["peak_memory"])
    text += "## Training runs skipped, and why\n\n" + reasons(runs, "step_time")
    for kind in reports.kernels:
        text += kernel_section(reports.of_kind(report, kind), remarks_file)
        text += held_out(pairs) if kind == "gemm" else ""
    return text + "## Failed\n\n" + failures(report).rstrip("\n") + "\n"


def main() -> int:
    text = write(reports.load(sys.argv[1]), hold_out.results(sys.argv[1]))
    if "--check" in sys.argv[2:]:
        fresh = page.exists() and page.read_text() == text
        print(f"{page.relative_to(reports.root)} is {'fresh' if fresh else 'stale: run tests/validation/make_page.py'}")
        return 0 if fresh else 1
    page.parent.mkdir(exist_ok=True)
    page.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
