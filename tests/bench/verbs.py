"""How long the program takes on every scenario of configs/: the median of several whole runs."""

import argparse
import pathlib
import statistics
import subprocess
import time


def seconds(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    print(f"{'command':48} {'median':>10} {'worst':>10}")
    print_row(options, ["--version"])
    for scenario in sorted((options.source / "configs").glob("**/*.toml")):
        for verb in ("check", "run"):
            print_row(options, [verb, scenario.relative_to(options.source).as_posix()])


def print_row(options, words):
    command = [options.program, *(options.source / w if w.endswith(".toml") else w for w in words)]
    times = [seconds(command) for _ in range(options.repeat)]
    print(f"{' '.join(words):48} {statistics.median(times) * 1e3:7.1f} ms {max(times) * 1e3:7.1f} ms")


main()
