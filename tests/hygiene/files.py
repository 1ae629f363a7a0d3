"""Short files, plain text: no tabs, no trailing space, a newline at the end, nothing but UTF-8."""

from common import arguments, files, finish, tracked

MOST_LINES = 400
MEANT_WRONG = ("golden", "diagnostics")  # folders of inputs and outputs that are odd on purpose
LONGER = {}  # path: why it may be longer. None today.
TEXT = {".cpp", ".hpp", ".py", ".sh", ".cmake", ".txt", ".toml", ".md", ".json", ".cff", ".yml"}


def is_text(path):
    return path.suffix in TEXT or path.suffix == "" and path.name != ".gitkeep"


def check_text(name, data):
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [f"{name}: not UTF-8: {error}"]
    problems = []
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            problems.append(f"{name}:{number}: a tab")
        if line != line.rstrip():
            problems.append(f"{name}:{number}: space at the end of the line")
    if data and not data.endswith(b"\n"):
        problems.append(f"{name}: no newline at the end")
    return problems


def main():
    source = arguments().source
    problems = []
    texts = [
        p
        for p in tracked(source)
        if is_text(p) and not (p.parent.name in MEANT_WRONG and p.suffix in (".toml", ".txt", ".json"))
    ]
    for path in texts:
        problems += check_text(path.relative_to(source).as_posix(), path.read_bytes())
    for path in files(source, "sim/**/*.cpp", "sim/**/*.hpp"):
        name = path.relative_to(source).as_posix()
        lines = path.read_text().splitlines()
        if len(lines) >= MOST_LINES and name not in LONGER:
            problems.append(f"{name}: {len(lines)} lines; two ideas in one file?")
        if path.suffix == ".hpp" and (not lines or lines[0] != "#pragma once"):
            problems.append(f"{name}: the first line of a header is '#pragma once'")
    problems += [f"{name}: listed as long, but is not there" for name in LONGER if not (source / name).exists()]
    finish(problems, len(texts), "text files")


main()
