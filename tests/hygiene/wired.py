"""Every folder of tests/ is known to CTest: a test that nobody runs is worse than none."""

import json
import subprocess

from common import arguments, finish

# A folder with *.cpp is one doctest program of this name; one with run.py is a script.
DIFFERENT = {
    "support": None,  # the shared main
    "static": "static_control",
    "hygiene": "hygiene_wired",
    "bench": None,  # ./dev bench
    "crosscheck": None,  # ./dev clang
}


def expected_tests(tests):
    for folder in sorted([*tests.iterdir(), *(tests / "unit").iterdir()]):
        if not folder.is_dir() or folder.name in ("unit", "__pycache__"):
            continue
        name = f"unit_{folder.name}" if folder.parent.name == "unit" else folder.name
        if name in DIFFERENT:
            if DIFFERENT[name]:
                yield folder, DIFFERENT[name]
            continue
        if any(folder.glob("*.cpp")):
            yield folder, name
        if (folder / "run.py").exists():
            yield folder, f"{name}_script"


def main():
    options = arguments()
    listing = subprocess.run(
        ["ctest", "--test-dir", options.build, "--show-only=json-v1"], capture_output=True, check=True
    )
    known = {test["name"] for test in json.loads(listing.stdout)["tests"]}
    tests = options.source / "tests"
    wanted = list(expected_tests(tests))
    problems = [
        f"{folder.relative_to(options.source)}: CTest has no test '{name}'"
        for folder, name in wanted
        if name not in known
    ]
    for path in sorted((tests / "hygiene").glob("*.py")):
        if path.stem != "common" and f"hygiene_{path.stem}" not in known:
            problems.append(f"{path.relative_to(options.source)}: CTest has no test for it")
    finish(problems, len(wanted), "folders of tests/")


main()
