"""compare: what differs between scenarios, checked against what run says of each."""

import json

NAMES = {"step_time_s": "step_time_s", "tokens_per_s": "tokens_per_s", "mfu": "mfu"}


def compare(program):
    against_run(program)
    with_and_without(program)
    limits(program)
    mistakes(program)


def outcomes(report):
    return {(row["group"], row["name"]): row for row in report["outcomes"]}


def against_run(program):
    """The numbers are those of run, the changes relative to the first."""
    names = ["dgx_a100", "dgx_h100", "single_gpu_gpt2"]
    report = json.loads(program("compare", *names, "--json").out)
    program.equal(report["scenarios"], names, "scenarios in the order given")
    singles = [json.loads(program("run", name, "--json").out)["results"] for name in names]
    found = outcomes(report)
    for outcome, field in NAMES.items():
        row = found["results", outcome]
        program.equal(row["values"], [single[field] for single in singles], f"compare has {field} of run")
        first = row["values"][0]
        program.expect(all(abs(c - (v / first - 1)) < 1e-12 for c, v in zip(row["change"], row["values"])),
                       f"{outcome} changes against the first")
    for i, single in enumerate(singles):
        parts = sum(row["values"][i] for key, row in found.items() if key[0] == "time")
        program.expect(abs(parts - single["step_time_s"]) < 1e-9 * parts, f"time of {names[i]} adds up")
        parts = sum(row["values"][i] for key, row in found.items() if key[0] == "memory")
        program.expect(parts == single["memory"]["used_bytes"], f"memory of {names[i]} adds up")
    csv = program("compare", *names, "--csv").out.splitlines()
    program.equal(csv[0], "group,name,unit," + ",".join(names), "CSV head")
    program.equal(len(csv), 1 + len(report["outcomes"]), "CSV rows")


def with_and_without(program):
    same = json.loads(program("compare", "dgx_h100", "dgx_h100", "--json").out)
    program.equal((same["inputs"], same["facts"]), ([], []), "a scenario does not differ from itself")
    program.expect(all(change in (0, None) for row in same["outcomes"] for change in row["change"]),
                   "nor do its results")
    changed = json.loads(program("compare", "dgx_h100", "--set", "recompute=full", "--json").out)
    program.equal(changed["inputs"], [{"key": "plan.recompute", "values": ["selective", "full"]}],
                  "one scenario is compared without and with --set")
    by_override = "override.chip.h100-sxm5-80gb.memory.bandwidth=4 TB/s"
    fact = json.loads(program("compare", "dgx_h100", "--set", by_override, "--json").out)
    program.equal([row["key"] for row in fact["inputs"]], ["chip.h100-sxm5-80gb.memory.bandwidth"],
                  "an overridden fact is an input")


def limits(program):
    worse = ("compare", "dgx_h100", "--set", "recompute=full", "-q")
    program.equal(program(*worse, "--fail-on", "step_time=+50%").code, 0, "a change within the limit")
    program.equal(program(*worse, "--fail-on", "step_time=+5%").code, 1, "a change beyond the limit")
    program.equal(program(*worse, "--fail-on", "mfu=5%").code, 1, "a lower MFU is worse")
    program.equal(program(*worse, "--fail-on", "peak_memory=0%").code, 0, "less memory is not worse")


def mistakes(program):
    for words, said in [
        (("compare",), "needs two scenarios"),
        (("compare", "dgx_h100"), "needs two scenarios"),
        (("compare", "dgx_h100", "dgx_a100", "--fail-on", "step_tim=5%"), "did you mean"),
        (("compare", "dgx_h100", "dgx_a100", "--fail-on", "step_time=5s"), "percentage"),
    ]:
        result = program(*words)
        program.equal((result.code, result.out), (2, ""), " ".join(words))
        program.expect(said in result.err, f"{' '.join(words)} says {said!r}")
    unknown = program("compare", "dgx_h100", "dgx_h10")
    program.equal((unknown.code, unknown.out), (74, ""), "a scenario that is not there")
    program.expect("did you mean" in unknown.err, "the nearest scenario")
