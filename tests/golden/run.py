"""Reports of every shipped scenario, of some kernels and machines, byte for byte: text, JSON, and the ASCII first screen.

    python3 tests/golden/run.py --program build/release/sim/clustersim --source . --update

rewrites them; the diff then shows what a change did to every answer.
"""

import difflib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from harness import Program, arguments  # noqa: E402


def renderings(program, config):
    """Name of the golden file → its command line and locale. Paths are relative, so as not to show."""
    relative = f"configs/{config.name}"
    yield f"{config.stem}.txt", ["run", relative], "C.UTF-8"
    yield f"{config.stem}.ascii.txt", ["run", relative, "-q"], "C"
    yield f"{config.stem}.json", ["run", relative, "--json"], "C.UTF-8"


GEMM = ["kernel", "gemm", "--chip", "h100", "--m", "4096", "--n", "4096", "--k", "4096"]
KERNELS = {
    "kernel_gemm": GEMM,
    "kernel_gemm_capped": [*GEMM, "--power-cap", "500W"],
    "kernel_gemm_sweep": ["kernel", "gemm", "--chip", "a100-sxm4-80gb", "--m", "2048", "--k", "4096",
                          "--n", "1024..4096:+256"],
    "kernel_attention": ["kernel", "attention", "h100", "--sequence", "1k..16k:x2", "--heads", "32", "--causal"],
    "kernel_memory": ["kernel", "memory", "h100", "a100-sxm4-80gb", "--class", "norm", "--bytes", "4MiB..1GiB:x16"],
}


def kernels():
    """The same for the verb `kernel`."""
    for name, words in KERNELS.items():
        yield f"{name}.txt", words, "C.UTF-8"
        yield f"{name}.json", [*words, "--json"], "C.UTF-8"


MACHINES = {
    "topology_dgx_h100": ["dgx-h100", "--nodes", "4"],
    "topology_dgx1_v100": ["dgx1-v100"],
    "topology_tpu_v4_64": ["tpu-v4-64"],
}


def pictures(program):
    """The verb `topology`: figures, drawing and Graphviz, coloured by an all-reduce."""
    for name, words in MACHINES.items():
        asked = ["topology", *words, "--collective", "all_reduce", "--size", "1GiB"]
        yield f"{name}.txt", asked, None
        yield f"{name}.json", [*asked, "--json"], None
        for kind in ("svg", "dot"):
            path = program.here / f"{name}.{kind}"
            yield path.name, [*asked, "-q", f"--{kind}", str(path)], path


def compare(program, folder, name, words, locale, update, written=None):
    run = program(*words, cwd=program.source, env=program.environment(LC_ALL=locale))
    program.expect(run.code in (0, 3), f"{' '.join(words)} ends with {run.code}: {run.err.strip()}")
    found = written.read_text(encoding="utf-8") if written else run.out
    path = folder / name
    if update:
        path.write_text(found, encoding="utf-8")
    golden = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(golden.splitlines(), found.splitlines(), f"golden/{name}", "now", "", "", 1, "")
    program.expect(golden == found, "\n".join([f"{name} differs", *list(lines)[:40]]))


def main():
    options = arguments()
    program = Program(options.program, options.source)
    folder = pathlib.Path(__file__).resolve().parent
    wanted = set()
    for config in sorted((options.source / "configs").glob("*.toml")):
        for name, words, locale in renderings(program, config):
            wanted.add(name)
            compare(program, folder, name, words, locale, options.update)
    for name, words, locale in kernels():
        wanted.add(name)
        compare(program, folder, name, words, locale, options.update)
    for name, words, written in pictures(program):
        wanted.add(name)
        compare(program, folder, name, words, "C.UTF-8", options.update, written)
    for path in sorted(folder.iterdir()):
        if path.suffix in (".txt", ".json", ".svg", ".dot") and path.name not in wanted:
            if options.update:
                path.unlink()
            program.expect(options.update, f"golden/{path.name} belongs to no report")
    return program.finish()


if __name__ == "__main__":
    sys.exit(main())
