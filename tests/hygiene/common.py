"""What the hygiene scripts share: their arguments and how they report."""

import argparse
import pathlib
import subprocess
import sys


def arguments(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", type=pathlib.Path, help="the built clustersim")
    parser.add_argument("--source", type=pathlib.Path, required=True, help="the repository")
    parser.add_argument("--build", type=pathlib.Path, help="the build folder")
    return parser.parse_args(words)


def files(source, *patterns):
    """Files of the repository that match a glob pattern, in a fixed order; none of build/."""
    found = set()
    for pattern in patterns:
        found.update(p for p in source.glob(pattern) if p.is_file())
    return sorted(p for p in found if not excluded(p.relative_to(source)))


def excluded(path):
    """Build output, caches, and what the repository's owner ignores beside it."""
    return path.parts[0] in ("build", ".git", ".cache") or "__pycache__" in path.parts


def tracked(source):
    """Every file under version control; in an unpacked archive, every file there is."""
    listing = subprocess.run(
        ["git", "-C", str(source), "ls-files", "-z", "--cached"], capture_output=True, check=False
    )
    if listing.returncode != 0 or not listing.stdout:
        return files(source, "*", ".ci/*", "*/**/*")
    names = listing.stdout.decode().split("\0")
    return sorted(source / name for name in names if name and (source / name).is_file())


def finish(problems, checked, what):
    """Prints the problems and ends with 1, or says how much was checked. Nothing checked is a problem."""
    if not checked:
        problems = [f"found no {what} to check", *problems]
    for problem in problems:
        print(problem)
    print(f"{checked} {what} checked, {len(problems)} problems")
    sys.exit(1 if problems else 0)
