"""Both engines of `run`: they agree where nothing contends, and the trace shows what the report says."""

import json
import math
import pathlib
import tempfile

PIPELINE = ("--set", "pipeline=4", "--set", "data=4", "--set", "tensor=8")


def engines(program):
    for config in sorted((program.source / "configs").glob("*.toml")):
        if "[inference]" in config.read_text():
            run = program("run", config, "--engine", "event")
            program.expect(run.code == 2 and "serves" in run.err, f"{config.stem}: the event engine is refused")
        elif "[[cluster.partition]]" in config.read_text():
            unlike_partitions(program, config.stem)
        else:
            agreement(program, config.stem)
    agreement(program, "dgx_h100", *PIPELINE)
    refusals(program)
    with tempfile.TemporaryDirectory() as folder:
        for settings in ((), PIPELINE):
            trace(program, pathlib.Path(folder) / "step.json", settings)


def unlike_partitions(program, name):
    for options in (("--engine", "event"), ("--compare-engines",), ("--trace", "step.json")):
        run = program("run", name, *options)
        program.expect(run.code == 2 and "unlike partitions" in run.err, f"{name}: {options[0]} is refused ({run.err!r})")
    results = json.loads(program("run", name, "--json").out)["results"]
    for part in results["partitions"]:
        total = math.fsum(part["time_breakdown"].values())
        program.expect(
            abs(total / results["step_time_s"] - 1) < 1e-12, f"{name}: each partition's causes sum to the step"
        )
    share = sum(part["sequences"] for part in results["partitions"])
    tokens = results["tokens_per_step"]
    program.expect(tokens % share == 0, f"{name}: the shares make up the batch")
    program.equal(program("search", name).code, 2, f"{name}: its plans are not searched")


def agreement(program, name, *settings):
    run = program("run", name, "--json", "--compare-engines", *settings)
    program.expect(run.code in (0, 3), f"{name}: both engines run ({run.err.strip()!r})")
    results = json.loads(run.out)["results"]
    program.equal(results["engine"], "analytic", f"{name}: the step is the analytic engine's")
    both = results["engines"]
    program.equal(both["analytic"]["step_time_s"], results["step_time_s"], f"{name}: the same step")
    for engine, answer in both.items():
        total = math.fsum(answer["time_breakdown"].values())
        program.equal(total, answer["step_time_s"], f"{name}: causes of the {engine} engine sum to its step")
    ratio = both["event"]["step_time_s"] / both["analytic"]["step_time_s"]
    program.expect(0.97 < ratio < 1.03, f"{name}: the engines are {ratio - 1:+.1%} apart")
    total = math.fsum(results["critical_path"].values())
    program.equal(total, both["event"]["step_time_s"], f"{name}: the longest chain sums to the step")
    event = program("run", name, "--json", "--engine", "event", *settings)
    step = json.loads(event.out)["results"]["step_time_s"]
    program.equal(step, both["event"]["step_time_s"], f"{name}: --engine event")


def refusals(program):
    program.equal(program("run", "dgx_h100", "--engine", "quantum").code, 2, "no such engine")
    run = program("run", "dgx_h100", "--engine", "analytic", "--trace", "never.json")
    program.equal(run.code, 2, "the analytic engine has no trace")


def trace(program, path, settings):
    run = program("run", "dgx_h100", "--json", "--trace", path, *settings)
    program.equal(run.code, 0, f"a trace is written ({run.err.strip()!r})")
    results = json.loads(run.out)["results"]
    events = json.loads(path.read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    program.expect(len(spans) > 1000, "the trace has spans")
    streams = {}
    for span in spans:
        streams.setdefault((span["pid"], span["tid"]), []).append((span["ts"], span["ts"] + span["dur"]))
    for stream, times in streams.items():
        times.sort()
        overlaps = [a for a, b in zip(times, times[1:]) if b[0] < a[1] - 1e-3]
        if stream[1] == 0:
            program.equal(overlaps, [], f"kernels of stage {stream[0]} follow one another")
    end = max(span["ts"] + span["dur"] for span in spans) * 1e-6
    program.expect(end <= results["step_time_s"] * 1.001, "the trace ends with the step")
    memory = [event["args"]["bytes"] for event in events if event["name"] == "memory"]
    peak = results["memory"]["peak_bytes"]
    program.expect(math.isclose(max(memory), peak, rel_tol=1e-9), "memory peaks where the report says")
    program.expect(min(memory) > 0, "memory is never negative")
    links = [use for event in events if event["name"] == "links" for use in event["args"].values()]
    program.expect(0 < max(links) <= 1 + 1e-9, "links carry at most their capacity")
    stages = {event["pid"] for event in events if event["ph"] == "M"}
    program.equal(len(stages), 4 if settings else 1, "a process for each stage")
    again = program("run", "dgx_h100", "--json", "--trace", path, *settings)
    program.equal(json.loads(path.read_text())["traceEvents"], events, "the same trace twice")
    program.equal(again.out, run.out, "the same report twice")
