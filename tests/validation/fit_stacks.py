#!/usr/bin/python3
"""Sets the scalars that software stacks declare (fitted = "time"), and what they are worth.

usage: fit_stacks.py PATH/TO/clustersim [--write] [--only NAME…]

A stack may have its host time per operator and its class factor set on measured training runs
(models/stacks, keys `host.per_operator` and `stack.class_factor` with `fitted = "time"`). All
stacks are run on one grid; a stack with at least `least_rows` measured rows
takes the point with the smallest mean |ln(predicted / measured)|, each row counting at most
`largest_error`; of points within a hundredth of that, the nearest to the global pair, so that a
scalar that the rows do not see stays the usual one. The others take the global pair: the best point for `rows_per_source` rows of each
source together.

Leave one source out: the rows of a source are predicted with the pair that its stack's other
sources give, if they have `least_rows`, and otherwise with the global pair of the other sources.

With --write the stacks' files are changed and leave_one_out.toml is written, which make_page.py
prints. Nothing else in the repository is fitted to training runs.
"""

import csv
import itertools
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import report as reports

hosts = (5, 15, 30, 45, 60, 80, 105)  # us
run_factors = (0.35, 0.55, 0.8, 1.2)  # between them a step is linear in 1/factor
factors = tuple(round(0.35 + 0.05 * i, 2) for i in range(18))
least_rows = 5
rows_per_source = 10
largest_error = 0.5
equal = 1.01
evidence = reports.here / "training_runs.csv"
result_file = reports.here / "leave_one_out.toml"
host_key = re.compile(r"^per_operator( *)= \{.*fitted *= *\"time\".*$", re.MULTILINE)
factor_key = re.compile(r"^class_factor( *)= \{.*fitted *= *\"time\".*$", re.MULTILINE)
Point = tuple[int, float]


def stack_files() -> list[pathlib.Path]:
    return sorted((reports.root / "models" / "stacks").glob("*.toml"))


def at_point(text: str, point: Point, source: str | None = None) -> str:
    """The stack's file with its declared scalars at this point; their source stays if none is given."""
    host, factor = point

    def value(match: re.Match, key: str, written: str) -> str:
        told = source or re.search(r'source *= *"([^"]*)"', match[0])[1]
        return f'{key}{match[1]}= {{ value = {written}, source = "{told}", fitted = "time" }}'

    text = host_key.sub(lambda m: value(m, "per_operator", f'"{host} us"'), text)
    return factor_key.sub(lambda m: value(m, "class_factor", str(factor)), text)


def predictions(program: str, point: Point) -> dict[str, dict]:
    """Of every row that is scored, by its id, with all stacks at this point."""
    with tempfile.TemporaryDirectory() as folder:
        stacks = pathlib.Path(folder) / "models" / "stacks"
        stacks.mkdir(parents=True)
        for file in stack_files():
            (stacks / file.name).write_text(at_point(file.read_text(), point))
        done = subprocess.run(
            [program, "validate", str(evidence), "--json", "--data", folder, "--threads", "1"],
            cwd=reports.root, capture_output=True, text=True, check=True)
    rows = reports.of_kind(json.loads(done.stdout), reports.runs)["rows"]
    return {row["id"]: row for row in rows if row["quantity"] == "step_time" and row["status"] == "ok"}


def between(at: Callable[[float], float], factor: float) -> float:
    """Linear in 1/factor between the two factors that were run around it."""
    above = next(f for f in run_factors if f >= factor)
    below = max((f for f in run_factors if f < factor), default=above)
    if above == below:
        return at(above)
    share = (1 / factor - 1 / below) / (1 / above - 1 / below)
    return at(below) + share * (at(above) - at(below))


class Study:
    def __init__(self, program: str):
        run = list(itertools.product(hosts, run_factors))
        with ThreadPoolExecutor(2) as pool:
            found = dict(zip(run, pool.map(lambda point: predictions(program, point), run)))
        self.points = list(itertools.product(hosts, factors))
        first = found[run[0]]
        self.ratio = {name: [between(lambda f: found[host, f][name]["ratio"], factor)
                             for host, factor in self.points] for name in first}
        self.stack = {name: row["stack"] for name, row in first.items()}
        with evidence.open() as file:
            table = [row for row in csv.DictReader(file) if row["id"] in first]
        self.source = {row["id"]: row["source"] for row in table}
        self.core = {row["id"] for row in table if row["core"] == "1"}
        self.names = [row["id"] for row in table]

    def error(self, name: str, point: int) -> float:
        return min(abs(math.log(self.ratio[name][point])), largest_error)

    def best(self, names: list[str], usual: int | None = None) -> int:
        """Of the points that are as good as any within `equal`, the nearest to the usual one."""
        errors = [sum(self.error(n, p) for n in names) for p in range(len(self.points))]
        good = [p for p, error in enumerate(errors) if error <= equal * min(errors)]
        if usual is None:
            return min(good, key=lambda p: (errors[p], p))
        return min(good, key=lambda p: (self.distance(p, usual), errors[p], p))

    def distance(self, one: int, other: int) -> float:
        return sum(abs(math.log(a / b)) for a, b in zip(self.points[one], self.points[other]))

    def some_of_each(self, names: list[str]) -> list[str]:
        """At most `rows_per_source` rows of each source, spread over it."""
        chosen = []
        for source in sorted({self.source[n] for n in names}):
            rows = [n for n in names if self.source[n] == source]
            step = max(len(rows) / rows_per_source, 1.0)
            chosen += [rows[int(i * step)] for i in range(min(len(rows), rows_per_source))]
        return chosen

    def pair(self, stack: str, names: list[str], common: int) -> int:
        rows = [n for n in names if self.stack[n] == stack]
        return self.best(rows, common) if len(rows) >= least_rows else common

    def left_out(self) -> dict[str, float]:
        """ratio of each row with its own source left out of all fits"""
        out = {}
        for source in sorted(set(self.source.values())):
            others = [n for n in self.names if self.source[n] != source]
            common = self.best(self.some_of_each(others))
            for name in self.names:
                if self.source[name] == source:
                    out[name] = self.ratio[name][self.pair(self.stack[name], others, common)]
        return out


def figures(ratios: list[float]) -> dict[str, float]:
    errors = sorted(abs(r - 1) * 100 for r in ratios)
    return {"rows": len(errors), "mape": round(statistics.fmean(errors), 1),
            "median_ape": round(statistics.median(errors), 1),
            "bias": round(statistics.fmean(100 * (r - 1) for r in ratios), 1),
            "p90_ape": round(statistics.quantiles(errors, n=10, method="inclusive")[8], 1) if len(errors) > 1
            else round(errors[0], 1)}


def entries(study: Study, common: int, own: dict[str, int]) -> dict[str, dict[str, list[float]]]:
    """Ratios by set of rows and by way of setting the scalars."""
    left = study.left_out()
    sets = {"all": study.names, "core": [n for n in study.names if n in study.core]}
    for source in sorted(set(study.source.values())):
        sets[source] = [n for n in study.names if study.source[n] == source]
    return {name: {"global": [study.ratio[n][common] for n in rows],
                   "own": [study.ratio[n][own[study.stack[n]]] for n in rows],
                   "left_out": [left[n] for n in rows]} for name, rows in sets.items()}


def write_result(study: Study, common: int, own: dict[str, int]) -> None:
    text = ("# Errors of step times with the stacks' scalars set in three ways, in percent. Written by\n"
            "# fit_stacks.py; global = one pair for all, own = a pair for each stack, left_out = the rows of a\n"
            "# source with pairs that other sources gave.\n")
    host, factor = study.points[common]
    text += f'global_pair = {{ host_us = {host}, class_factor = {factor} }}\n'
    for name, ways in entries(study, common, own).items():
        text += f'\n[[set]]\nname = "{name}"\n'
        for way, ratios in ways.items():
            text += f"{way} = {{ " + ", ".join(f"{k} = {v}" for k, v in figures(ratios).items()) + " }\n"
    result_file.write_text(text)


def write_stacks(study: Study, common: int, own: dict[str, int]) -> None:
    for file in stack_files():
        stack = file.stem
        rows = [n for n in study.names if study.stack[n] == stack]
        few = len(rows) < least_rows
        text = at_point(file.read_text(), study.points[own.get(stack, common)], "global" if few else "rows")
        text = re.sub(r"^(global|rows) *= \"[^\n]*\n", "", text, flags=re.MULTILINE)
        if 'fitted = "time"' in text:
            sources = ", ".join(sorted({study.source[n] for n in rows}))
            said = ('global = "the one pair for stacks with few measured runs: tests/validation/fit_stacks.py on ten '
                    'rows of every source"' if few else
                    f'rows = "set on {len(rows)} measured runs of {sources} by tests/validation/fit_stacks.py"')
            if f'source = "{"global" if few else "rows"}"' in text:
                text = text.replace("[sources]\n", f"[sources]\n{said}\n", 1)
        file.write_text(text)


def main() -> int:
    study = Study(sys.argv[1])
    common = study.best(study.some_of_each(study.names))
    own = {stack: study.pair(stack, study.names, common) for stack in sorted(set(study.stack.values()))}
    print("global pair", study.points[common])
    for stack, point in own.items():
        ratios = {p: [study.ratio[n][p] for n in study.names if study.stack[n] == stack] for p in (point, common)}
        print(f"{stack:26} {study.points[point]} own {figures(ratios[point])} global {figures(ratios[common])}")
    for name, ways in entries(study, common, own).items():
        print(f"{name:22}", {way: figures(ratios) for way, ratios in ways.items()})
    if "--write" in sys.argv[2:]:
        write_result(study, common, own)
        write_stacks(study, common, own)
    return 0


if __name__ == "__main__":
    sys.exit(main())
