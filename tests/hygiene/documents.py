"""Every command of the documents runs, and every relative link leads somewhere.

A command stands in a block fenced ```console, on a line that starts with "$ clustersim" or "$ ./dev"; a
line that ends with a backslash goes on in the next. It runs in the repository (in a copy when it
writes), through the built program, in the order of the page. The exit code must be 0, or the one
that a comment names: "$ clustersim run big.toml   # exit 3".
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from common import arguments, files, finish

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")
PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "*/README.md")
NEVER_RUN = {"test", "sanitize", "clang", "lint", "bench", "all", "build"}  # they would run this test


def commands(text):
    """(line number, words, exit code) of each command of a page."""
    inside, held = False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() == "```console" and not inside
            continue
        if not inside or not (held or line.startswith(("$ clustersim", "$ ./dev"))):
            continue
        held += line.removeprefix("$ ").removesuffix("\\")
        if line.endswith("\\"):
            continue
        expected = re.search(r"#\s*exit (\d+)", held)
        yield number, shlex.split(held, comments=True), int(expected[1]) if expected else 0
        held = ""


def run(words, program, folder):
    """Runs one line of shell-free words; a pipe or a redirection is beyond it and says so."""
    environment = dict(os.environ, NO_COLOR="1", CLUSTERSIM_DATA=str(folder))
    return subprocess.run(
        [program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def check_commands(name, text, program, folder):
    problems, count = [], 0
    for number, words, expected in commands(text):
        if words[0] == "./dev" and (len(words) < 2 or words[1] in NEVER_RUN | {"help"}):
            continue
        count += 1
        if any(word in ("|", ">", "&&") for word in words):
            problems.append(f"{name}:{number}: a command of the documents stands alone, without a shell")
            continue
        result = run(words, program, folder)
        if result.returncode != expected:
            problems.append(
                f"{name}:{number}: {shlex.join(words)}: exit {result.returncode}, not {expected}\n{result.stderr}"
            )
    return problems, count


def check_links(path, text, source):
    name = path.relative_to(source)
    for target, _ in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        if not (path.parent / target).exists():
            yield f"{name}: the link to {target} leads nowhere"


def main():
    options = arguments()
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for entry in ("configs", "models", "topologies", "examples"):
            if (options.source / entry).is_dir():
                shutil.copytree(options.source / entry, folder / entry)
        for path in files(options.source, *PAGES):
            text = path.read_text()
            found, run_here = check_commands(path.relative_to(options.source), text, options.program, folder)
            problems += [*found, *check_links(path, text, options.source)]
            count += run_here
    finish(problems, count, "commands of the documents")


main()
