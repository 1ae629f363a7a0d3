"""Tests compare to a relative error: doctest::Approx adds an absolute 1e-5, in which all microseconds are equal."""

import re

from common import arguments, files, finish

BARE = re.compile(r"\bApprox\b")
# fabs(a.si() - b.si()) < 1e-9, in seconds: an absolute tolerance of a quantity.
ABSOLUTE = re.compile(r"\babs\([^;]*\.si\(\)[^;]*\)\s*<=?\s*[0-9.]+e-[0-9]+|fabs\([^;]*\.si\(\)[^;]*\)\s*<=?\s*[0-9.]+e-[0-9]+")
EXEMPT = "tests/support/close_to.hpp"  # says why


def main():
    source = arguments().source
    problems = []
    sources = files(source, "tests/**/*.cpp", "tests/**/*.hpp")
    for path in sources:
        name = path.relative_to(source).as_posix()
        if name == EXEMPT:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if BARE.search(line):
                problems.append(f"{name}:{number}: Approx; use close_to of support/close_to.hpp")
            if ABSOLUTE.search(line):
                problems.append(f"{name}:{number}: an absolute tolerance of a quantity; use close_to")
    finish(problems, len(sources), "test sources")


main()
