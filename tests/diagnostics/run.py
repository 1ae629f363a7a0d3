#!/usr/bin/env python3
"""Whole error texts, pinned: `clustersim check CASE.toml` must print CASE.txt on standard error.

A first line `# args: …` adds arguments. UPDATE=1 rewrites the expected texts.
"""

import argparse
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def said(program, source, case):
    first = case.read_bytes().split(b"\n", 1)[0].decode(errors="replace")
    extra = shlex.split(first.removeprefix("# args:")) if first.startswith("# args:") else []
    environment = {k: v for k, v in os.environ.items() if k != "CLUSTERSIM_DATA"} | {"NO_COLOR": "1"}
    run = subprocess.run([program, "check", case.name, *extra], cwd=HERE, env=environment,
                         capture_output=True, text=True, timeout=60, check=False)
    text = run.stderr.replace(str(source) + "/", "")
    return f"{text}exit {run.returncode}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--build")
    options = parser.parse_args()
    cases = sorted(HERE.glob("*.toml"))
    wrong = 0 if cases else 1
    for case in cases:
        pinned = case.with_suffix(".txt")
        text = said(str(pathlib.Path(options.program).resolve()), pathlib.Path(options.source).resolve(), case)
        if os.environ.get("UPDATE") == "1":
            pinned.write_text(text)
            continue
        expected = pinned.read_text() if pinned.exists() else ""
        if text != expected:
            wrong += 1
            sys.stdout.writelines(difflib.unified_diff(
                expected.splitlines(True), text.splitlines(True), str(pinned), "now"))
    for orphan in set(HERE.glob("*.txt")) - {case.with_suffix(".txt") for case in cases}:
        print(f"{orphan}: no such case")
        wrong += 1
    print(f"{len(cases)} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
