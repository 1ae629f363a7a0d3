"""One validation report, as a value: runs the program and reads its JSON."""

import json
import pathlib
import subprocess

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
evidence = "tests/validation/training_runs.csv"


def load(program: str, evidence: str = evidence) -> dict:
    """The JSON of `clustersim validate`, run from the root so that paths in it are relative."""
    done = subprocess.run(
        [program, "validate", evidence, "--json"], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"clustersim validate ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def group(report: dict, by: str, name: str, quantity: str) -> dict | None:
    if by == "all":
        return report["summary"].get(quantity)
    for entry in report["groups"]:
        if (entry["by"], entry["name"], entry["quantity"]) == (by, name, quantity):
            return entry
    return None


def scored(figures: dict) -> int:
    return figures["rows"] - figures["failed"] - figures["skipped"]
