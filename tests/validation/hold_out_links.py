#!/usr/bin/python3
"""How well a system's collectives are predicted from a sibling's links alone: bandwidth of its own, every
other constant of the sibling's.

usage: hold_out_links.py PATH/TO/clustersim [--check]

hold_out_links.toml lists pairs. Prints each with the mean error from the sibling, and with its own
constants. Sizes from 64 MiB and all sizes apart: beyond the launch what a sibling tells is its share of the
bandwidth. With --check the exit status is 1 when the mean over the systems of all pairs is worse than the aim, at sizes
from 64 MiB.
"""

import fnmatch
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
links = root / "topologies" / "links"
evidence = "tests/validation/collectives.csv"
aim = 12.0  # percent


def stand_in(link: str, sibling: str) -> str:
    """The sibling's file under the link's names, with the link's bandwidth."""
    own = (links / f"{link}.toml").read_text()
    text = (links / f"{sibling}.toml").read_text()
    for key in ("id", "name", "family"):
        text = re.sub(rf"(?m)^{key} .*$", re.search(rf"(?m)^{key} .*$", own)[0], text, count=1)
    text = re.sub(r"(?m)^aliases .*\n", "", text, count=1)
    bandwidth = tomllib.loads(own)["link"]["bandwidth"]
    value = bandwidth["value"] if isinstance(bandwidth, dict) else bandwidth
    return re.sub(r"(?m)^bandwidth .*$", f'bandwidth = "{value}"', text, count=1)


def rows(program: str, *words: str) -> list[dict]:
    done = subprocess.run([program, "validate", evidence, "--json", *words], cwd=root, capture_output=True, text=True,
                          check=False)
    if done.returncode > 1:
        raise SystemExit(f"validate {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)["files"][0]["rows"]


def errors(found: list[dict], patterns: list[str]) -> dict[str, list[tuple[float, bool]]]:
    """By system: |error| in percent, and whether the message is large."""
    by_system: dict[str, list[tuple[float, bool]]] = {}
    for row in found:
        system = row["id"].split(" ")[0]
        if row["status"] != "ok" or not any(fnmatch.fnmatch(system, one) for one in patterns):
            continue
        amount, unit = re.search(r"([\d.]+) (B|KiB|MiB|GiB)$", row["id"]).groups()
        size = float(amount) * 1024 ** ("B", "KiB", "MiB", "GiB").index(unit)
        by_system.setdefault(system, []).append((100 * abs(row["ratio"] - 1), size >= 2**26))
    return by_system


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> int:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    own = rows(program)
    large_means, all_means = [], []
    print(f"{'system':32} {'link':12} {'from':12} {'rows':>5} {'>= 64 MiB':>10} {'all sizes':>10} {'own, all':>9}")
    for pair in tomllib.loads((here / "hold_out_links.toml").read_text())["pair"]:
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder) / "topologies" / "links"
            place.mkdir(parents=True)
            (place / f"{pair['link']}.toml").write_text(stand_in(pair["link"], pair["sibling"]))
            held = errors(rows(program, "--data", folder), pair["systems"])
        known = errors(own, pair["systems"])
        for system, found in sorted(held.items()):
            large, every = mean([e for e, big in found if big]), mean([e for e, _ in found])
            all_means.append(every)
            if large == large:
                large_means.append(large)
            print(f"{system:32} {pair['link']:12} {pair['sibling']:12} {len(found):5} {large:9.1f}% {every:9.1f}% "
                  f"{mean([e for e, _ in known[system]]):8.1f}%")
    print(f"mean over {len(all_means)} systems: {mean(large_means):.1f} % from 64 MiB, {mean(all_means):.1f} % at all "
          f"sizes (aim {aim:.0f} %)")
    return 1 if "--check" in sys.argv and not mean(large_means) <= aim else 0


sys.exit(main())
