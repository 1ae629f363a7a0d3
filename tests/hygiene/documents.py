"""Every command of the documents runs and prints what the page shows; every relative link leads somewhere.

A command stands in a block fenced ```console, on a line that starts with "$ clustersim" or "$ ./dev"; a
line that ends with a backslash goes on in the next. It runs beside a copy of the data, through the built
program, in the order of the page. The exit code must be 0, or the one that a comment names:
"$ clustersim run big.toml   # exit 3". Lines below the command, if any, are its standard output; a line
"..." stands for any number of lines.

With --update the outputs are written anew: as many lines as the page shows before its "...", or all of
them where it has none. Where something follows the "...", the author has to do it.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from common import arguments, files, finish

LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")
PAGES = ("*.md", "docs/**/*.md", "examples/**/*.md", "*/README.md")
# Own words of ./dev: most would run this very test.
NEVER_RUN = {"test", "sanitize", "clang", "lint", "bench", "all", "build", "refresh", "help"}


class Command:
    """One command of a page, the exit code it must have and the output shown below it."""

    def __init__(self, line, text):
        expected = re.search(r"#\s*exit (\d+)", text)
        self.line = line
        self.words = shlex.split(text, comments=True)
        self.exit = int(expected[1]) if expected else 0
        self.output = []
        self.renewed = None


def commands(text):
    found, inside, held = [], False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside, held = line.strip() == "```console" and not inside, ""
        elif inside and (held or line.startswith("$ ")):
            held += line.removeprefix("$ ").removesuffix("\\")
            if not line.endswith("\\"):
                found.append(Command(number, held))
                held = ""
        elif inside and found:
            found[-1].output.append(line)
    return [c for c in found if c.words and c.words[0] in ("clustersim", "./dev")]


def as_shown(shown, printed):
    """Whether the output is the one that the page shows; "..." stands for any number of lines."""
    parts = [r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n" for line in shown]
    printed = "".join(line.rstrip() + "\n" for line in printed.splitlines())
    return re.fullmatch("".join(parts), printed) is not None


def renewed(shown, printed):
    """What the page is to show of a new output, or None when the old one does not tell."""
    lines = [line.rstrip() for line in printed.splitlines()]
    if "..." not in shown:
        return lines
    cut = shown.index("...")
    if any(line.strip() for line in shown[cut + 1:]):
        return None
    head = lines[:cut]
    while head and not head[-1]:
        head.pop()
    return [*head, *shown[cut:]]


def rewritten(text, found):
    """The page with its renewed outputs; the last first, so that line numbers hold."""
    lines = text.splitlines()
    for command in reversed(found):
        if command.renewed is not None:
            lines[command.line:command.line + len(command.output)] = command.renewed
    return "\n".join(lines) + "\n"


def run(words, program, folder):
    """Runs one line of shell-free words; a pipe or a redirection is beyond it and says so."""
    environment = dict(os.environ, NO_COLOR="1", CLUSTERSIM_DATA=str(folder))
    return subprocess.run(
        [program, *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def check_command(command, program, folder):
    if any(word in ("|", ">", "<", "&&", ";") for word in command.words):
        return "a command of the documents stands alone, without a shell"
    result = run(command.words, program, folder)
    if result.returncode != command.exit:
        return f"exit {result.returncode}, not {command.exit}\n{result.stderr}"
    if command.output and not as_shown(command.output, result.stdout):
        command.renewed = renewed(command.output, result.stdout)
        return f"prints something else than the page shows:\n{result.stdout}"
    return None


def check_commands(name, found, program, folder):
    problems, count = [], 0
    for command in found:
        if command.words[0] == "./dev" and (len(command.words) < 2 or command.words[1] in NEVER_RUN):
            continue
        count += 1
        problem = check_command(command, program, folder)
        if problem:
            problems.append(f"{name}:{command.line}: {shlex.join(command.words)}: {problem}")
    return problems, count


def check_links(path, text, source):
    name = path.relative_to(source)
    for target, _ in LINK.findall(text):
        if "://" in target or target.startswith("mailto:"):
            continue
        if not (path.parent / target).exists():
            yield f"{name}: the link to {target} leads nowhere"


def main():
    renew = "--update" in sys.argv
    options = arguments([word for word in sys.argv[1:] if word != "--update"])
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for entry in ("configs", "models", "topologies", "examples"):
            if (options.source / entry).is_dir():
                shutil.copytree(options.source / entry, folder / entry)
        for path in files(options.source, *PAGES):
            text = path.read_text()
            found = commands(text)
            wrong, run_here = check_commands(path.relative_to(options.source), found, options.program, folder)
            problems += [*wrong, *check_links(path, text, options.source)]
            count += run_here
            if renew and any(command.renewed is not None for command in found):
                path.write_text(rewritten(text, found))
    finish(problems, count, "commands of the documents")


main()
