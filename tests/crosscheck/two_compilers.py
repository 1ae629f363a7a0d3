"""The programs of two compilers print the same bytes for every scenario of configs/."""

import argparse
import difflib
import pathlib
import subprocess
import sys

FORMS = ([], ["--json"])


def run(program, scenario, form):
    return subprocess.run(
        [program, "run", scenario, *form], capture_output=True, text=True, timeout=120, check=False
    )


def differences(options, scenario, form):
    one, other = (run(p, scenario, form) for p in (options.program, options.other))
    if one.returncode not in (0, 3):  # 3: valid, but does not fit
        return [f"exit {one.returncode}", one.stderr]
    if one.returncode != other.returncode:
        return [f"exit {one.returncode} and {other.returncode}"]
    lines = difflib.unified_diff(one.stdout.splitlines(), other.stdout.splitlines(), lineterm="", n=0)
    return list(lines)[:12] if one.stdout != other.stdout else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--other", type=pathlib.Path, required=True)
    options = parser.parse_args()
    scenarios = sorted((options.source / "configs").glob("**/*.toml"))
    different = 0
    for scenario in scenarios:
        for form in FORMS:
            found = differences(options, scenario, form)
            different += bool(found)
            if found:
                print(f"{scenario.relative_to(options.source)} {' '.join(form)}: not the same")
                print("\n".join(f"  {line}" for line in found))
    print(f"{len(scenarios) * len(FORMS)} reports compared, {different} different")
    sys.exit(1 if different or not scenarios else 0)


main()
