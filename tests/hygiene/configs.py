"""Every scenario of configs/ passes `clustersim check`, from any directory, and changes nothing."""

import os
import subprocess
import tempfile

from common import arguments, files, finish


def main():
    options = arguments()
    problems = []
    scenarios = files(options.source, "configs/**/*.toml")
    with tempfile.TemporaryDirectory() as elsewhere:
        for path in scenarios:
            name = path.relative_to(options.source).as_posix()
            run = subprocess.run(
                [options.program, "check", path],
                cwd=elsewhere,
                env={k: v for k, v in os.environ.items() if k != "CLUSTERSIM_DATA"},
                capture_output=True,
                text=True,
                timeout=60,
            )
            # 3: valid, but does not fit; such a scenario is a lesson, and its name must say so.
            fits_as_named = run.returncode == (3 if "does_not_fit" in name else 0)
            if not fits_as_named and run.returncode != 0:
                problems.append(f"{name}: exit {run.returncode}\n{run.stdout}{run.stderr}")
        if os.listdir(elsewhere):
            problems.append(f"check left files behind: {os.listdir(elsewhere)}")
    finish(problems, len(scenarios), "scenarios")


main()
