"""What the command-line tests share: running the program, and one line per failed expectation."""

import argparse
import os
import pathlib
import subprocess
import tempfile


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="rewrite what is compared with")
    parsed = parser.parse_args()
    parsed.program = parsed.program.resolve()
    parsed.source = parsed.source.resolve()
    return parsed


class Result:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout.decode("utf-8", "replace")
        self.err = done.stderr.decode("utf-8", "replace")


class Program:
    """The program under a fixed environment, in an empty folder unless told otherwise."""

    def __init__(self, path, source):
        self.path = path
        self.source = source
        self.folder = tempfile.TemporaryDirectory(prefix="clustersim-cli-")
        self.checks = 0
        self.failures = []

    @property
    def here(self):
        return pathlib.Path(self.folder.name)

    def environment(self, **extra):
        kept = {name: os.environ[name] for name in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ}
        return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm", **extra}

    def __call__(self, *words, cwd=None, env=None, **options):
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([str(self.path), *map(str, words)], cwd=cwd or self.here, timeout=120,
                              env=env or self.environment(), check=False,
                              **{**options, "stdout": options["stdout"]})
        done.stdout = done.stdout or b""
        done.stderr = done.stderr or b""
        return Result(done)

    def config(self, name):
        return self.source / "configs" / f"{name}.toml"

    def expect(self, truth, what):
        self.checks += 1
        if not truth:
            self.failures.append(what)

    def equal(self, found, wanted, what):
        self.expect(found == wanted, f"{what}: {found!r} instead of {wanted!r}")

    def finish(self):
        for failure in self.failures:
            print("FAILED:", failure)
        print(f"{self.checks} checks, {len(self.failures)} failed")
        return 1 if self.failures or self.checks == 0 else 0
