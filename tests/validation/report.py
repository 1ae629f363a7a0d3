"""One validation report, as a value: runs the program and reads its JSON."""

import json
import pathlib
import subprocess

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
runs = "training runs"
# Kinds of microbenchmarks, and the names of their files.
files = {"gemm": "gemm", "attention": "attention", "kernels": "kernels", "membw": "membw", "power": "power",
         "collectives": "collectives", "all-reduce": "vtrain_allreduce"}
kernels = tuple(files)
evidence = [f"tests/validation/{name}.csv" for name in ("training_runs", *files.values())]


def load(program: str) -> dict:
    """The JSON of `clustersim validate`, run from the root so that paths in it are relative."""
    done = subprocess.run(
        [program, "validate", *evidence, "--json"], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"clustersim validate ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def of_kind(report: dict, kind: str) -> dict:
    """The file of this kind: its rows, summary and groups."""
    return next(file for file in report["files"] if file["kind"] == kind)


def group(file: dict, by: str, name: str, quantity: str) -> dict | None:
    if by == "all":
        return file["summary"].get(quantity)
    for entry in file["groups"]:
        if (entry["by"], entry["name"], entry["quantity"]) == (by, name, quantity):
            return entry
    return None


def scored(figures: dict) -> int:
    return figures["rows"] - figures["failed"] - figures["skipped"]
