"""The verb `kernel`: ranges, formats, refusals; and what `validate` says about files it cannot use."""

import csv
import io
import json

GEMM = ["kernel", "gemm", "--chip", "h100-sxm5", "--m", "4096", "--n", "4096", "--k", "4096"]


def kernel(program):
    formats(program)
    variants(program)
    ranges(program)
    refusals(program)
    sawtooth(program)
    settings(program)
    evidence(program)


def rows(program, *words):
    result = program(*words, "--json")
    program.equal((result.code, result.err), (0, ""), f"{words}")
    return json.loads(result.out)["rows"] if result.code == 0 else []


def formats(program):
    text = program(*GEMM)
    program.equal((text.code, text.err), (0, ""), "kernel gemm")
    for words in ("power", "pJ/FLOP", "time", "TFLOP/s", "of the roofline", "bound by", "tiles", "wave", "tail", "split-K"):
        program.expect(words in text.out, f"kernel gemm prints {words!r}")
    wide = [line for line in text.out.splitlines() if len(line) > 80]
    program.equal(wide, [], "kernel gemm keeps to 80 columns")
    document = json.loads(program(*GEMM, "--json").out)
    program.equal((document["schema"], document["kernel"]), ("clustersim.kernel/1", "gemm"), "kernel --json")
    row = document["rows"][0]
    flops = 2 * 4096**3
    program.expect(abs(row["tflops"] / (flops / row["time_us"] / 1e6) - 1) < 1e-9, "FLOP/s is work over time")
    peak = row["tflops"] / row["fraction"]
    program.expect(abs(peak / 989.4 - 1) < 1e-3, f"the fraction is of the data sheet's peak: {peak}")
    table = list(csv.DictReader(io.StringIO(program(*GEMM, "--csv").out)))
    program.equal([float(one["time_us"]) for one in table], [row["time_us"]], "kernel --csv has the same time")
    capped = rows(program, *GEMM, "--power-cap", "500W")[0]
    program.expect(capped["time_us"] > row["time_us"], "a power cap slows a product")
    for one, watts in ((row, 700), (capped, 500)):
        program.expect(0.97 * watts < one["power_w"] <= watts, f"a large product draws its limit: {one['power_w']} W")
        program.expect(abs(one["energy_j"] / (one["power_w"] * one["time_us"] * 1e-6) - 1) < 1e-9, "J = W s")
        program.expect(abs(one["pj_per_flop"] * flops * 1e-12 / one["energy_j"] - 1) < 1e-9, "pJ/FLOP")
    burst = rows(program, *GEMM, "--condition", "burst")[0]
    program.expect(burst["time_us"] < row["time_us"], "a cool chip is faster")
    one = rows(program, "kernel", "attention", "--chip", "h100", "--sequence", "8k", "--heads", "32", "--causal")
    back = rows(program, "kernel", "attention", "--chip", "h100", "--sequence", "8k", "--heads", "32", "--causal",
                "--backward", "--library", one[0]["library"])
    program.expect(2 < back[0]["time_us"] / one[0]["time_us"] < 5, "a backward pass costs some 2.5 forward ones")
    norm = rows(program, "kernel", "memory", "h100", "h200", "--class", "norm", "--bytes", "1GiB")
    program.expect(norm[0]["time_us"] > norm[1]["time_us"], "more bandwidth, less time")
    program.expect(0.3 * 700 < norm[0]["power_w"] < 0.8 * 700, "a memory-bound kernel draws less than its limit")


def variants(program):
    dense, sparse = rows(program, *GEMM)[0], rows(program, *GEMM, "--sparse")[0]
    program.expect(1.2 < dense["time_us"] / sparse["time_us"] <= 2, "2:4 sparsity speeds a large product up")
    program.expect(sparse["fraction"] < 1, "a sparse product keeps below the sparse peak")
    card = ["kernel", "gemm", "--chip", "rtx-3090", "--m", "8192", "--n", "8192", "--k", "8192", "--precision", "fp16"]
    wide, narrow = rows(program, *card)[0], rows(program, *card, "--sums", "fp16")[0]
    program.expect(1.2 < wide["time_us"] / narrow["time_us"] <= 2.01, "consumer cards sum faster in 16 bits")
    said = program(*GEMM, "--sums", "fp16", "--precision", "fp16")
    program.expect("no faster in 16 bits" in said.out, f"a chip that gains nothing says so: {said.out}")
    attention = ["kernel", "attention", "--chip", "a100-sxm4-80gb", "--sequence", "4k", "--heads", "32"]
    fused, plain = rows(program, *attention)[0], rows(program, *attention, "--library", "unfused")[0]
    program.equal((fused["roof"], plain["roof"]), ("matrix", "memory"), "fusion turns attention compute-bound")
    old = program("kernel", "attention", "--chip", "p100-sxm2-16gb", "--sequence", "4k", "--heads", "8", "--precision",
                  "fp16")
    program.expect(old.code == 0 and "unfused" in old.out and "no fused attention kernel" in old.out,
                   "without a fused kernel attention is unfused")


def ranges(program):
    swept = rows(program, *GEMM, "--sweep", "m=128..8192:x2")
    program.equal([row["m"] for row in swept], [128 * 2**i for i in range(7)], "--sweep m=128..8192:x2")
    square = rows(program, "kernel", "gemm", "--chip", "h100", "--sweep", "m,n,k=256..1024:x2")
    program.equal([(row["m"], row["n"], row["k"]) for row in square], [(d, d, d) for d in (256, 512, 1024)],
                  "dimensions swept together")
    grid = rows(program, "kernel", "gemm", "--chip", "h100", "--m", "1,2", "--n", "64..192:+64", "--k", "64")
    program.equal([(row["m"], row["n"]) for row in grid], [(m, n) for m in (1, 2) for n in (64, 128, 192)],
                  "ranges of two dimensions span a grid")
    sizes = rows(program, "kernel", "memory", "--chip", "h100", "--bytes", "8B..8KiB")
    program.equal([row["bytes"] for row in sizes], [8.0 * 2**i for i in range(11)], "sizes double")
    caps = rows(program, *GEMM, "--power-cap", "400W..700W:+100W")
    times = [row["time_us"] for row in caps]
    program.equal((len(times), times), (4, sorted(times, reverse=True)), "a higher cap is never slower")


def refusals(program):
    for words, said in [
        (["kernel"], "needs one of gemm, attention, memory"), (["kernel", "gmem"], 'did you mean "gemm"'),
        (["kernel", "gemm", "--m", "1", "--n", "1", "--k", "1"], "needs a chip"),
        (["kernel", "gemm", "--chip", "h100", "--m", "1"], "needs --n"),
        (["kernel", "gemm", "--chip", "h10o", "--m", "1", "--n", "1", "--k", "1"], 'did you mean "h100"'),
        ([*GEMM, "--precision", "bf61"], 'did you mean "bf16"'),
        ([*GEMM, "--condition", "brust"], 'did you mean "burst"'),
        ([*GEMM, "--heads", "8"], "'--heads' does not apply to 'kernel gemm'"),
        ([*GEMM, "--power-cap", "500"], "has no unit"), ([*GEMM, "--power-cap", "0W"], "not above zero"),
        ([*GEMM, "--sweep", "q=1..2"], "no dimension 'q'"), ([*GEMM, "--sweep", "m"], "expected KEY=RANGE"),
        ([*GEMM, "--sweep", "m=8..2"], "runs downwards"), ([*GEMM, "--sweep", "m=1..1000000000"], "more than 10000"),
        ([*GEMM, "--sweep", "m=1..1000", "--sweep", "n=1..1000"], "more than 10000"),
        ([*GEMM, "--sweep", "m=1..2", "--sweep", "m,n=1..2"], "swept twice"),
        (["kernel", "attention", "--chip", "h100", "--sequence", "4k", "--heads", "30", "--kv-heads", "8"],
         "do not divide"),
        (["kernel", "attention", "--chip", "h100", "--sequence", "4k", "--heads", "8", "--library", "flsh-2"],
         'did you mean "flash-2"'),
        ([*GEMM, "--sums", "fp8"], "expected one of fp32, fp16"),
        (["kernel", "memory", "--chip", "h100", "--bytes", "1MB", "--sparse"], "does not apply"),
        (["kernel", "memory", "--chip", "h100", "--class", "nrom", "--bytes", "1MB"], 'did you mean "norm"'),
        (["kernel", "memory", "--chip", "h100", "--bytes", "5"], "has no unit"),
    ]:
        result = program(*words)
        program.equal((result.code, result.out), (2, ""), f"{words} is refused")
        program.expect(said in result.err, f"{words} says {said!r}: {result.err!r}")
    note = program("kernel", "gemm", "--chip", "a100-sxm4-80gb", "--precision", "fp8", "--m", "1024",
                   "--n", "1024", "--k", "1024")
    program.expect(note.code == 0 and "has no fp8 path" in note.out, "a precision that the chip lacks is said")


def sawtooth(program):
    """NVIDIA's guide to matrix products: FLOP/s falls where one tile more than a wave holds is needed."""
    teeth = rows(program, "kernel", "gemm", "--chip", "a100-sxm4-80gb", "--m", "2048", "--k", "4096",
                 "--n", "1024..8192:+128")
    rates = [row["tflops"] for row in teeth]
    falls = sum(after < 0.95 * before for before, after in zip(rates, rates[1:]))
    program.expect(falls >= 3, f"N on A100 draws a sawtooth: {falls} teeth")
    deepest = max(before / after for before, after in zip(rates, rates[1:]))
    program.expect(deepest > 1.15, f"and its deepest tooth is deep: {deepest:.3f}")


def settings(program):
    words = ["kernel", "memory", "--chip", "h100", "--bytes", "1GiB"]
    base = rows(program, *words)[0]["memory_us"]
    wider = rows(program, *words, "--set", "override.chip.h100.memory.bandwidth=6.7TB/s")[0]["memory_us"]
    program.expect(abs(base / wider - 2) < 1e-9, "--set changes a figure of the chip: twice 3.35 TB/s")
    for setting, said in [("override.chip.h100.memory.bandwith=1TB/s", 'did you mean "bandwidth"'),
                          ("override.chip.h200.memory.bandwidth=1TB/s", "not about"),
                          ("memory.bandwidth=1TB/s", "no scenario")]:
        result = program(*words, "--set", setting)
        program.expect(result.code == 2 and said in result.err, f"--set {setting} is refused: {result.err!r}")


def evidence(program):
    for path, said in [("/dev/zero", "not an ordinary file"), ("/", "a directory"), ("no.csv", "no such file")]:
        for verb in ("validate", "run"):
            result = program(verb, path)
            program.equal((result.code, result.out), (74, ""), f"{verb} {path}")
        program.expect(said in program("validate", path).err, f"validate {path} says why")
    table = program.here / "gemm.csv"
    table.write_text("chip,precision,M,N,K,time_us\nh100,bf16,4096,4096,4096,200\nh100,bf16,nan,1,1,5\n")
    document = json.loads(program("validate", table, "--json").out)
    found = document["files"][0]["rows"]
    program.equal([row["status"] for row in found], ["ok", "skipped"], "a row and a slip")
    program.expect("M is 'nan'" in found[1]["reason"], f"the slip is named: {found[1]['reason']}")
    same = rows(program, *GEMM)[0]["time_us"]
    program.expect(abs(found[0]["predicted"] * 1e6 / same - 1) < 1e-12, "validate and kernel agree")
    for limit, code in [("time=1000%", 0), ("time=0%", 1), ("bandwidth=5%", 1), ("tmie=5%", 2), ("time=5", 2)]:
        result = program("validate", table, "--fail-on", limit)
        program.equal(result.code, code, f"validate --fail-on {limit} ({result.err.strip()!r})")
        program.equal(result.out != "", code != 2, f"validate --fail-on {limit}: refused before the run or reported")
    program.equal(program("run", "no-such", "--fail-on", "mfu=x").code, 2, "a bad limit comes before the scenario")
    table.write_text("chip,precision,M,N,K,time_us\n")
    empty = program("validate", table, "--fail-on", "time=5%")
    program.expect(empty.code == 1 and "no row to score" in empty.err, f"no rows: {empty.err!r}")
