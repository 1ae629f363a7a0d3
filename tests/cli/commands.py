"""Verbs, options, exit codes, suggestions."""

import json

VERBS = ["run", "compare", "search", "import", "check", "list", "show", "init", "roofline", "kernel", "collective", "topology",
         "validate", "calibrate", "help", "version"]
KINDS = ["chips", "transformers", "nodes", "fabrics", "links", "stacks", "recipes", "calibrations", "configs"]


def commands(program):
    help_texts(program)
    misspellings(program)
    exit_codes(program)
    overrides(program)
    catalogue(program)
    starters(program)
    rooflines(program)
    collectives(program)
    limits(program)


def help_texts(program):
    overview = program("help")
    program.equal(overview.code, 0, "help")
    program.equal(program().out, overview.out, "no arguments show the help")
    program.equal(program("--help").out, overview.out, "--help shows the help")
    example, verbs = overview.out.find("clustersim run"), overview.out.find("Verbs")
    program.expect(0 < example < verbs, "help leads with examples")
    program.expect(len(overview.out.splitlines()) <= 24, "help fits on a screen")
    for verb in VERBS:
        before = "clustersim" if verb in ("help", "version") else "\n "
        program.expect(f"{before} {verb} " in overview.out, f"help names {verb}")
        one = program("help", verb)
        program.equal((one.code, one.err), (0, ""), f"help {verb}")
        if verb != "help":
            program.equal(program(verb, "--help").out, one.out, f"{verb} --help is help {verb}")
        program.expect(one.out.find("Examples") < one.out.find("Usage"), f"help {verb} leads with examples")
        wide = [line for line in one.out.splitlines() if len(line) > 80]
        program.equal(wide, [], f"help {verb} keeps to 80 columns")
    version = program("--version")
    program.expect(version.code == 0 and version.out.startswith("clustersim 0."), "--version")
    program.equal(program("version").out, version.out, "version is --version")


def misspellings(program):
    for words, near in [
        (["rnu", "x.toml"], "run"), (["rooflin"], "roofline"), (["lits"], "list"), (["help", "shwo"], "show"),
        (["run", "dgx_h100", "--jsn"], "--json"), (["list", "--vebrose"], "--verbose"),
        (["run", "dgx_h100", "--colour=never"], "--color"), (["list", "chps"], "chips"),
        (["show", "h10o"], "h100"), (["roofline", "--chip", "h100", "--precision", "bf61"], "bf16"),
        (["collective", "all_redcue", "--topology", "dgx-h100"], "all_reduce"),
        (["collective", "all_reduce", "--topology", "dgx-h100", "--algorithm", "rign"], "ring"),
        (["collective", "all_reduce", "--topology", "dgx-h10"], "dgx-h100"),
        (["run", "dgx_h100", "--fail-on", "step_tmie=1s"], "step_time"),
        (["run", "dgx_h100", "--set", "plan.tensr=4"], "tensor"),
    ]:
        result = program(*words)
        program.equal((result.code, result.out), (2, ""), f"{words} is refused")
        program.expect(f'did you mean "{near}' in result.err or f'.{near}"?' in result.err,
                       f"{words} suggests {near}: {result.err!r}")


def exit_codes(program):
    cases = [
        (["run", "dgx_h100"], 0), (["run", "does_not_fit"], 3), (["run", "no/such.toml"], 74),
        (["run"], 2), (["run", "dgx_h100", "another"], 2), (["run", "dgx_h100", "--csv"], 2),
        (["run", "dgx_h100", "--json", "--csv"], 2), (["run", "dgx_h100", "--color", "sometimes"], 2),
        (["run", "dgx_h100", "--set", "tensor=7"], 2), (["run", "dgx_h100", "--set"], 2),
        (["list", "chips", "--data", "/no/such/folder"], 74), (["list", "chips", "--set", "a=1"], 2),
        (["show"], 2), (["roofline"], 2), (["roofline", "--chip", "no-such-chip"], 2),
        (["collective"], 2), (["collective", "all_reduce"], 2), (["collective", "all_sum", "--topology", "dgx-h100"], 2),
        (["collective", "all_reduce", "--topology", "no-such-node"], 2),
        (["collective", "all_reduce", "--topology", "dgx-h100", "--ranks", "9"], 2),
        (["collective", "all_reduce", "--topology", "dgx-h100", "--sizes", "8GiB..8B"], 2),
        (["collective", "all_reduce", "--topology", "dgx-h100", "--nodes", "1e9"], 2),
        (["collective", "all_reduce", "--topology", "dgx-h100", "--algorithm", "tree"], 2),
        (["collective", "all_reduce", "--topology", "dgx-h100", "--set", "cluster.nodes=2"], 2),
        (["collective", "all_reduce", "--topology", "configs/no.toml"], 74),
        (["validate"], 2), (["validate", "no-such.csv"], 74), (["check"], 2), (["check", "no-such.toml"], 74),
        (["run", program.source], 74), (["reference", "nothing"], 2),
    ]
    for words, code in cases:
        result = program(*words)
        program.equal(result.code, code, f"exit code of {words} ({result.err.strip()!r})")
        if code in (2, 74):
            program.equal(result.out, "", f"{words} prints no result")
            program.expect(result.err != "", f"{words} says why")
    missing = program("run", "dgx_h100", "--set").err
    program.expect("--set KEY=VALUE" in missing, f"an option without its value says what it needs: {missing!r}")
    program.equal(program("list", "--", "chips").code, 0, "-- ends the options")
    broken = program.here / "broken.toml"
    broken.write_text('schema = 1\ntitle = "x"\n[cluster]\nnode = "dgx-h100"\nnoeds = 2\n')
    program.equal(program("run", broken).code, 2, "run of a broken scenario")
    program.equal(program("check", broken).code, 1, "check of a broken scenario")
    message = program("check", broken).err
    program.expect(f"{broken}:5:1: error" in message and "nodes" in message, f"check locates: {message!r}")
    good = program("check", program.config("dgx_h100"), program.config("does_not_fit"))
    program.equal(good.code, 0, "check of good scenarios")
    program.equal(program("check", broken, program.config("dgx_h100")).code, 1, "one broken file of two")


def overrides(program):
    def step(*settings):
        words = [word for setting in settings for word in ("--set", setting)]
        return json.loads(program("run", "dgx_h100", "--json", *words).out)

    base, longer = step(), step("training.global_batch=1024")
    program.expect(longer["results"]["step_time_s"] > 1.5 * base["results"]["step_time_s"], "--set changes the run")
    entry = longer["inputs"]["training.global_batch"]
    program.equal((entry["value"], entry["origin"]), (1024, "command line"), "--set is echoed with its origin")
    again = step("training.global_batch=1024", "training.global_batch=512")
    program.equal(again["results"], base["results"], "the later --set wins")
    program.equal(step("gbs=1024")["results"], longer["results"], "an alias does the same")


def catalogue(program):
    listing = program("list")
    for kind in KINDS:
        program.expect(f"\n{kind} " in "\n" + listing.out, f"list names {kind}")
        text, data = program("list", kind), json.loads(program("list", kind, "--json").out)
        program.equal((text.code, text.err), (0, ""), f"list {kind}")
        program.expect(len(data["entries"]) > 0, f"list {kind} has entries")
        program.equal(len(text.out.splitlines()), len(data["entries"]) + 1, f"list {kind}: a line each")
        rows = program("list", kind, "--csv").out.splitlines()
        program.equal(len(rows), len(data["entries"]) + 1, f"list {kind} --csv: a line each")
        for entry in data["entries"][:3] if kind != "configs" else []:
            shown = program("show", kind[:-1], entry["id"])
            program.equal((shown.code, shown.err), (0, ""), f"show {kind[:-1]} {entry['id']}")
            program.expect(len(shown.out.splitlines()) > 5, f"show {entry['id']} shows something")
    shown = json.loads(program("show", "h100", "--json").out)
    program.equal(shown["id"], "h100-sxm5-80gb", "show resolves an alias")
    bandwidth = shown["values"]["chip.h100-sxm5-80gb.memory.bandwidth"]
    program.equal((bandwidth["value"], bandwidth["unit"]), (3.35e12, "B/s"), "show has values with units")
    program.expect(bandwidth["source"] != "", "show has sources")
    scenario = program("show", program.config("dgx_h100"))
    program.expect("plan.tensor" in scenario.out, "show of a scenario lists what it resolves to")
    ambiguous = program("show", "a100")
    program.equal((ambiguous.code, ambiguous.out), (2, ""), "an ambiguous name is refused")
    program.expect("a100-sxm4-40gb" in ambiguous.err and "a100-sxm4-80gb" in ambiguous.err,
                   f"an ambiguous name lists what it can mean: {ambiguous.err!r}")


def starters(program):
    for words, path in [([], "scenario.toml"), (["chip"], "models/chips/my-chip.toml"),
                        (["node"], "topologies/nodes/my-node.toml"), (["own.toml"], "own.toml"),
                        (["chip", "Our Chip.toml"], "Our Chip.toml"), (["node", "n.toml"], "n.toml")]:
        made = program("init", *words)
        program.equal((made.code, made.out), (0, ""), f"init {words} ({made.err.strip()!r})")
        written = program.here / path
        program.expect(written.exists(), f"init {words} writes {path}")
        checked = program("check", path)
        program.equal(checked.code, 0, f"what init {words} writes passes check ({checked.err.strip()!r})")
        before = written.read_bytes()
        program.equal(program("init", *words).code, 74, f"init {words} never overwrites")
        program.equal(written.read_bytes(), before, f"init {words} leaves the file alone")
    program.equal(program("run", "scenario.toml").code, 0, "the starter runs")
    program.equal(program("roofline", "--chip", "my-chip").code, 0, "a chip of this folder is found")
    own = program("run", "scenario.toml", "--set", "cluster.node=my-node")
    program.equal(own.code, 0, f"a node of this folder is found ({own.err.strip()!r})")
    leftovers = [path.name for path in program.here.rglob("*.tmp")]
    program.equal(leftovers, [], "no temporary file stays")


def rooflines(program):
    one = program("roofline", "--chip", "h100")
    program.equal((one.code, one.err), (0, ""), "roofline")
    table, plot = one.out.split("\n\n", 1)
    program.expect("bf16" in table and "989.4 TFLOP/s" in table, "roofline prints peaks")
    ridge = 989.4e12 / 3.35e12
    program.expect(f"{ridge:.4g} FLOP/B" in table, "roofline prints the ridge point peak / bandwidth")
    for text in (plot, program("roofline", "h100", "h200", "b200").out.split("\n\n")[-1]):
        lines = text.splitlines()
        program.expect(len(lines) <= 24, f"the plot fits on 24 lines, not {len(lines)}")
        program.expect(max(map(len, lines)) <= 80, "the plot fits in 80 columns")
    data = json.loads(program("roofline", "h100", "--json").out)
    roofs = {(roof["units"], roof["precision"]): roof for roof in data["chips"][0]["roofs"]}
    found = roofs[("matrix", "bf16")]["ridge_flops_per_byte"]["HBM3"]
    program.equal(found, ridge, "roofline --json has the ridge point")
    turing = json.loads(program("roofline", "rtx-2080-ti", "--json").out)
    lacks = {roof["precision"] for roof in turing["chips"][0]["roofs"]}
    program.expect("bf16" not in lacks and "fp8" not in lacks, "no roof that the chip lacks")
    program.equal(program("roofline", "rtx-2080-ti", "--precision", "bf16").code, 2, "asking for it is refused")


def collectives(program):
    words = ["collective", "all_reduce", "--topology", "dgx_h100", "--nodes", "4", "--ranks", "32"]
    run = program(*words, "--sizes", "8B..8GiB", "--json")
    program.equal(run.code, 0, f"collective ({run.err!r})")
    report = json.loads(run.out)
    program.equal(report["schema"], "clustersim.collective/1", "collective: schema")
    rows = report["rows"]
    program.equal([row["bytes"] for row in rows], [2**k for k in range(3, 34)], "collective: sizes double")
    for row in rows:
        bandwidth = row["bytes"] / row["time_us"] / 1e3
        program.expect(abs(row["algbw_gbs"] / bandwidth - 1) < 1e-9, f"collective: algbw of {row['bytes']} B")
        program.expect(abs(row["busbw_gbs"] / row["algbw_gbs"] - 2 * 31 / 32) < 1e-9, "collective: busbw is 2(n-1)/n")
        program.expect(" -> " in row["binding_edge"], "collective: names an edge")
        program.expect(row["algorithm"] in ("ring", "tree", "in-switch"), "collective: names the algorithm")
    times = [row["time_us"] for row in rows]
    program.expect(times == sorted(times), "collective: a larger buffer takes no less time")
    ring = json.loads(program(*words, "--sizes", "8B..8GiB", "--algorithm", "ring", "--json").out)["rows"]
    program.expect(all(a["time_us"] >= b["time_us"] for a, b in zip(ring, rows)), "collective: auto is the fastest")
    program.equal({row["algorithm"] for row in ring}, {"ring"}, "collective: --algorithm ring")
    csv = program(*words, "--csv", "--sizes", "1MiB,3MiB").out.splitlines()
    program.equal(len(csv), 3, "collective: CSV has a head and a line for each size")
    text = program(*words).out
    program.expect(max(map(len, text.splitlines())) <= 80, "collective: text keeps to 80 columns")
    scenario = program("collective", "all_reduce", "--topology", program.config("dgx_h100"), "--sizes", "1GB",
                       "--set", "cluster.nodes=4", "--set", "plan.data=4", "--json")
    program.equal(json.loads(scenario.out)["ranks"], 32, f"collective: the cluster of a scenario ({scenario.err!r})")


def limits(program):
    for limit, code in [("step_time=1s", 1), ("step_time=10h", 0), ("mfu=99%", 1), ("mfu=1%", 0),
                        ("peak_memory=1GiB", 1), ("tokens_per_s=1", 0), ("step_time=5%", 2), ("mfu=x", 2)]:
        result = program("run", "dgx_h100", "--fail-on", limit)
        program.equal(result.code, code, f"--fail-on {limit} ({result.err.strip()!r})")
        program.equal(result.out != "", code != 2, f"--fail-on {limit} still prints the report")
