#!/usr/bin/python3
"""How well a chip is predicted from its siblings alone: GEMMs of a chip with the constants of another.

usage: hold_out.py PATH/TO/clustersim

hold_out.toml lists pairs. Where the sibling's family was fitted without the chip, its constants are used as
they stand (`family`). Where one family was fitted to both, its GEMM constants are fitted anew to the
sibling's rows alone (`fit_to`): those that these rows determine. Exit status 1 when the mean of a pair is
worse than its limit. make_page.py shows the table.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

import report as reports

evidence = "tests/validation/gemm.csv"


def run(program: str, *words: str) -> tuple[int, dict]:
    done = subprocess.run([program, *words, "--json"], cwd=reports.root, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"clustersim {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.returncode, json.loads(done.stdout)


def refitted(program: str, pair: dict, path: pathlib.Path) -> str:
    """An overlay with the GEMM constants of the sibling's family fitted to its own rows alone."""
    code, fit = run(program, "calibrate", evidence, "--chip", pair["fit_to"], "--fit", ",".join(pair["fit"]),
                    "-o", str(path))
    if code != 0:
        raise SystemExit(f"{pair['fit_to']} does not determine {[one['key'] for one in fit['undetermined']]}")
    return path.read_text()


def overlay(program: str, pair: dict, folder: pathlib.Path) -> pathlib.Path:
    path = folder / "hold_out.toml"
    if "family" in pair:
        path.write_text('schema = 1\ntitle = "hold-out"\n[override.chip."{}".calibration]\nuse = "{}"\n'.format(
            pair["chip"], pair["family"]))
    else:
        text = refitted(program, pair, path)
        path.write_text(text.replace(f'[override.chip."{pair["fit_to"]}"', f'[override.chip."{pair["chip"]}"'))
    return path


def figures(program: str, pair: dict, words: list[str]) -> dict:
    _, report = run(program, "validate", evidence, *words)
    group = reports.group(report["files"][0], "chip", pair["name"], "time")
    if group is None:
        raise SystemExit(f"no rows of {pair['name']}")
    return group


def results(program: str) -> list[tuple[dict, dict, dict]]:
    """Each pair with its chip's figures from the sibling, and with its own constants."""
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        for pair in tomllib.loads((reports.here / "hold_out.toml").read_text())["pair"]:
            laid = overlay(program, pair, pathlib.Path(scratch))
            out.append((pair, figures(program, pair, ["--calibration", str(laid)]), figures(program, pair, [])))
    return out


def main() -> int:
    problems = 0
    found = results(sys.argv[1])
    for pair, held_out, own in found:
        bad = held_out["mape"] > pair["mape_at_most"]
        problems += bad
        print("{}{}: {} rows, {:.1f} % from {}, {:.1f} % with its own".format(
            "worse than allowed: " if bad else "", pair["name"], reports.scored(held_out), held_out["mape"],
            pair["from"], own["mape"]))
    print(f"{len(found)} chips held out, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
