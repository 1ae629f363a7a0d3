"""What a report promises: valid JSON that sums, one screen, and no number in the text but from the JSON."""

import json
import math
import re


def reports(program):
    configs = [path for path in sorted((program.source / "configs").glob("*.toml"))
               if "[inference]" not in path.read_text()]  # those are inference.py's
    program.expect(len(configs) >= 7, "there are configs to report on")
    seen = set()
    for config in configs:
        name = config.stem
        run = program("run", config, "--json")
        program.expect(run.code in (0, 3), f"{name} runs ({run.err.strip()!r})")
        if run.code not in (0, 3):
            continue
        report = json.loads(run.out, parse_constant=lambda word: program.expect(False, f"{name}: {word} in JSON"))
        sums(program, name, report)
        shares(program, name, report)
        seen |= set(paths(report))
        text = program("run", config)
        screen(program, name, text.out)
        numbers(program, name, program("run", config, "-q").out, report)
        program.equal(text.code, run.code, f"{name}: text and JSON end alike")
        program.equal(run.code == 3, not report["results"]["memory"]["fits"], f"{name}: 3 means does not fit")
        program.equal(program("run", config, "--json").out, run.out, f"{name}: the same bytes twice")
    both = program("run", "dgx_h100", "--json", "--engine", "event", "--compare-engines")
    seen |= set(paths(json.loads(both.out)))
    documented = program("reference", "report").out
    for path in sorted(seen):
        program.expect(f"| `{path}` |" in documented, f"docs/reference/report.md lacks {path}")
    for path in re.findall(r"^\| `([^`]+)` \|", documented, re.M):
        optional = path.startswith(("results.run.", "results.remedies", "warnings", "inputs.NAME."))
        program.expect(path in seen or optional, f"docs/reference/report.md names {path}, which no report has")


VARYING = {
    "inputs",
    "results.time_breakdown",
    "results.partitions[].time_breakdown",
    "results.energy.chip_step_j",
    "results.bottleneck.elasticities",
    "results.bottleneck.doubled",
    "results.streams",
    "results.links",
    "results.critical_path",
    "results.engines",
    "results.engines.NAME.time_breakdown",
}


def paths(value, path=""):
    """Every leaf as "a.b[].c", with NAME for keys that vary."""
    if isinstance(value, dict):
        for key, child in value.items():
            step = "NAME" if path in VARYING else key
            yield from paths(child, f"{path}.{step}" if path else step)
    elif isinstance(value, list):
        for child in value:
            yield from paths(child, f"{path}[]")
    else:
        yield path


def sums(program, name, report):
    results = report["results"]
    parts, step = list(results["time_breakdown"].values()), results["step_time_s"]
    backwards = 0.0
    for part in reversed(parts):
        backwards += part
    forwards = 0.0
    for part in parts:
        forwards += part
    program.equal((forwards, backwards, math.fsum(parts)), (step, step, step), f"{name}: the breakdown sums exactly")
    program.expect(all(part >= 0 for part in parts), f"{name}: no part of the breakdown is negative")
    memory = results["memory"]
    terms = math.fsum(term["bytes"] for term in memory["terms"])
    program.expect(math.isclose(terms, memory["peak_bytes"], rel_tol=1e-12), f"{name}: memory terms sum to the peak")
    program.equal(memory["used_bytes"], memory["peak_bytes"] + memory["reserve_bytes"], f"{name}: used memory")
    elasticities = math.fsum(results["bottleneck"]["elasticities"].values())
    program.expect(abs(elasticities - 1) < 0.02, f"{name}: elasticities sum to 1, not {elasticities}")


def shares(program, name, report):
    results = report["results"]
    program.expect(0 < results["mfu"] <= results["hfu"] <= 1, f"{name}: 0 < MFU <= HFU <= 1")
    mfu = results["model_flops_per_step"] / results["step_time_s"] / results["chips"] / results["peak_flops_per_s"]
    program.expect(math.isclose(mfu, results["mfu"], rel_tol=1e-12), f"{name}: MFU is FLOPs over time, chips, peak")
    rate = results["tokens_per_step"] / results["step_time_s"]
    program.expect(math.isclose(rate, results["tokens_per_s"], rel_tol=1e-12), f"{name}: tokens/s")
    gains = [entry["gain"] for entry in results["what_if"]]
    program.expect(len(gains) >= 3 and gains == sorted(gains, reverse=True), f"{name}: what-ifs, best first")


def screen(program, name, text):
    lines = text.split("\n\nWhat a faster")[0].split("\n\nRemedies")[0].split("\n\nWhere the time")[0].splitlines()
    program.expect(len(lines) <= 24, f"{name}: the first screen has {len(lines)} lines")
    program.expect(max(map(len, lines)) <= 80, f"{name}: a line of {max(map(len, lines))} columns on the first screen")
    first = "\n".join(lines)
    for word in ("Step time", "tokens/s", "per chip", "MFU", "HFU", "FLOP/s dense", "Memory", "usable", "Bound by"):
        program.expect(word in first, f"{name}: the first screen lacks {word!r}")
    for head in ("Time of a step", "Memory of a chip"):
        program.expect(head in first, f"{name}: the first screen lacks {head!r}")
    advice = "What would help" in first or "Does not fit" in first
    program.expect(advice, f"{name}: the first screen gives advice")
    blocks(program, name, lines)


ROW = re.compile(r"^(.+?) +(\d+(?:\.\d+)?) +(\d+\.\d) %")


def blocks(program, name, lines):
    """Each column of the two breakdowns adds up to the total in its head, digit by digit."""
    top = next(i for i, line in enumerate(lines) if "Time of a step" in line)
    for start, stop in ((2, 42), (42, 80)):
        head = re.search(r"(\d+(?:\.\d+)?) (\S+)$", lines[top][start:stop].strip())
        decimals = len(head.group(1).partition(".")[2])
        total = share = 0
        for line in lines[top + 1:]:
            row = ROW.match(line[start:stop])
            if not row:
                break
            total += round(float(row.group(2)) * 10**decimals)
            share += round(float(row.group(3)) * 10)
        program.equal(total, round(float(head.group(1)) * 10**decimals), f"{name}: {lines[top][start:stop].strip()}")
        program.equal(share, 1000, f"{name}: shares of {lines[top][start:stop].strip()}")


PREFIX = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "m": 1e-3, "u": 1e-6,
          "billion": 1e9, "million": 1e6, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}


def numbers(program, name, text, report):
    """Each number with a unit or a per cent sign on the first screen is one of the JSON, rounded."""
    known = sorted(leaves(report))
    text = re.sub(r"\d+ others.*?%", "", text)  # a sum of the small ones
    found = re.findall(r"([\d,]+(?:\.\d+)?) ((?:[kMGTPEmu]|[KMGT]i|[bm]illion)?) ?"
                       r"(s|B|FLOP/s|tokens/s|parameters|per chip|%)(?![\w/])", text)
    program.expect(len(found) >= 15, f"{name}: only {len(found)} numbers on the first screen")
    for digits, prefix, unit in found:
        scale = PREFIX[prefix]
        shown = float(digits.replace(",", ""))
        ulp = 10.0 ** -len(digits.partition(".")[2])
        factor = 0.01 if unit == "%" else scale
        low, high = (shown - ulp) * factor, (shown + ulp) * factor
        program.expect(any(low <= abs(value) <= high for value in known),
                       f"{name}: {digits} {prefix}{unit} is not in the JSON")


def leaves(report):
    results = report["results"]

    def walk(value):
        if isinstance(value, bool):
            return
        if isinstance(value, (int, float)):
            yield float(value)
        elif isinstance(value, dict):
            for child in value.values():
                yield from walk(child)
        elif isinstance(value, list):
            for child in value:
                yield from walk(child)
        elif isinstance(value, str):
            # sentences and names carry numbers of their own: "10 % faster", "989.4 TFLOP/s"
            for digits in re.findall(r"\d+(?:\.\d+)?(?= %)", value):
                yield float(digits) / 100

    yield from walk(report["results"])
    step, used = results["step_time_s"], results["memory"]["used_bytes"]
    yield from (part / step for part in results["time_breakdown"].values())
    yield from (term["bytes"] / used for term in results["memory"]["terms"])
    yield results["memory"]["reserve_bytes"] / used
