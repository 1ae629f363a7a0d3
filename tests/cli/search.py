"""search: what it finds is what run says of the plan that it writes, and it says why plans are left out."""

import json

SMALL = ("llama3_8b_dgx_h100", "--fix", "tensor=2,4", "--fix", "context=1", "--fix", "schedule=1f1b")
TOO_LARGE = ("llama3_8b_dgx_h100", "--set", "model.layers=512", "--fix", "context=1", "--fix", "schedule=1f1b")


def search(program):
    best_runs(program)
    axes(program)
    objectives(program)
    front(program)
    nothing_fits(program)
    shards(program)
    threads(program)
    mistakes(program)


def found(program, *words):
    result = program("search", *words, "--json")
    program.equal(result.code, 0, f"search {' '.join(words)}")
    return json.loads(result.out)


def accounted(report):
    refused = sum(one["plans"] for one in report["refused"].values())
    return report["evaluated"] + report["pruned"] + refused == report["enumerated"]


def best_runs(program):
    """The written scenario takes exactly the time that was promised, in exactly the memory."""
    report = found(program, *SMALL)
    program.expect(accounted(report), "each plan is tried, left out or refused, once")
    program.expect(report["pruned"] > 0, "bounds leave plans out")
    program.equal(program("search", *SMALL, "-q", "-o", "best.toml").code, 0, "search -o best.toml")
    best = report["best"][0]
    results = json.loads(program("run", "best.toml", "--json").out)["results"]
    program.equal(results["step_time_s"], best["step_time_s"], "the best plan's time is that of run")
    program.equal(results["memory"]["used_bytes"], best["memory_bytes"], "and its memory")
    program.expect(abs(results["mfu"] - best["mfu"]) <= 1e-12 * best["mfu"], "and its MFU")
    every = found(program, *SMALL, "--exhaustive")
    program.equal(every["best"], report["best"], "trying all plans finds the same")
    program.equal((every["pruned"], every["enumerated"]), (0, report["enumerated"]), "of as many plans")


def axes(program):
    report = found(program, *SMALL, "--fix", "tensor=4", "--fix", "recompute=full", "--top", "3")
    program.equal(len(report["best"]), 3, "--top 3")
    program.equal([one["rank"] for one in report["best"]], [1, 2, 3], "ranks")
    program.equal({(one["plan"]["tensor"], one["plan"]["recompute"]) for one in report["best"]}, {(4, "full")},
                  "the last --fix of an axis holds")
    times = [one["step_time_s"] for one in report["best"]]
    program.equal(times, sorted(times), "best first")
    ten = found(program, *SMALL)
    program.equal(len(ten["best"]), 10, "ten plans where nothing is said")
    program.equal(found(program, *SMALL, "--top", "1")["best"], ten["best"][:1], "--top only cuts the list")


def objectives(program):
    """The first by an objective has least of it among the first by every objective."""
    prices = ("--set", "prices.electricity=0.15 USD/kWh")
    fields = {"step_time": "step_time_s", "cost": "cost_usd", "energy": "energy_j", "memory": "memory_bytes",
              "tokens_per_dollar": "cost_usd"}
    best = {name: found(program, *SMALL, *prices, "--objective", name)["best"][0] for name in fields}
    for name, field in fields.items():
        least = min(one[field] for one in best.values())
        program.expect(best[name][field] <= least * (1 + 1e-12), f"--objective {name} has least {field}")
    program.equal(best["cost"]["plan"], best["tokens_per_dollar"]["plan"], "most tokens per dollar cost least")
    program.expect(best["memory"]["memory_bytes"] < best["step_time"]["memory_bytes"], "objectives differ")


def front(program):
    report = found(program, *SMALL, "--pareto")
    points = [(one["step_time_s"], one["memory_bytes"]) for one in report["pareto"]]
    program.expect(len(points) > 2, "a front of several plans")
    program.equal(points, sorted(points), "fastest first")
    program.expect(all(a[1] > b[1] for a, b in zip(points, points[1:])), "less memory for more time")
    program.equal(points[0][0], report["best"][0]["step_time_s"], "it begins with the fastest")
    smallest = found(program, *SMALL, "--objective", "memory")["best"][0]["memory_bytes"]
    program.equal(points[-1][1], smallest, "and ends with the smallest")
    every = found(program, *SMALL, "--pareto", "--exhaustive")
    program.equal(every["pareto"], report["pareto"], "trying all plans finds the same front")


def nothing_fits(program):
    result = program("search", *TOO_LARGE, "--json")
    program.equal(result.code, 3, "nothing fits")
    report = json.loads(result.out)
    program.equal(report["best"], [], "no plan is said to be best")
    program.expect(accounted(report), "each plan is refused once")
    nearest = report["nearest"]
    lacking = nearest["memory_bytes"] - nearest["usable_bytes"]
    program.expect(lacking > 0, "the nearest plan does not fit")
    program.equal(nearest["short_by_bytes"], lacking, "by what it lacks")
    program.expect(nearest["step_time_s"] > 0, "it has a time all the same")
    text = program("search", *TOO_LARGE)
    program.equal(text.code, 3, "nothing fits, as text")
    program.expect("No plan fits. The nearest is short by" in text.out, "the nearest miss in words")
    program.expect(" 0 s if it did" not in text.out, "with its time")
    program.equal(program("search", *TOO_LARGE, "-o", "none.toml").code, 3, "nothing to write")
    program.expect(not (program.here / "none.toml").exists(), "nothing is written")


def shards(program):
    whole = found(program, *SMALL)
    pieces = [found(program, *SMALL, "--shard", f"{i}/3") for i in (1, 2, 3)]
    program.equal(sum(one["enumerated"] for one in pieces), whole["enumerated"], "shards hold all plans, once")
    program.expect(all(accounted(one) for one in pieces), "shards account for theirs")
    rows = sorted((row["score"], row["settings"]) for one in pieces for row in one["best"])
    best = [(row["score"], row["settings"]) for row in whole["best"]]
    program.equal([row[0] for row in rows[:len(best)]], [row[0] for row in best], "the best of shards are the best")
    program.expect(best[0] in rows, "the very plan")


def threads(program):
    outputs = []
    for count in ("1", "2", "4"):
        env = program.environment(OMP_NUM_THREADS=count)
        outputs.append([program("search", *SMALL, "--pareto", *form, env=env).out for form in ((), ("--json",))])
    program.expect(outputs[0] == outputs[1] == outputs[2], "any number of threads prints the same")
    program.expect(outputs[0][0] != "", "and prints something")


def mistakes(program):
    for words, said in ((("--fix", "tensor"), "--fix cannot be"),
                        (("--fix", "tensor=zero"), "search.tensor"),
                        (("--fix", "tenser=2"), "tensor"),
                        (("--fix", "zero=4"), "search.zero"),
                        (("--fix", "tensor=99999999999999999999"), "search.tensor"),
                        (("--objective", "fun"), "--objective"),
                        (("--top", "0"), "--top"),
                        (("--shard", "3"), "--shard cannot be"),
                        (("--shard", "3/2"), "--shard"),
                        (("--shard", "0/2"), "--shard")):
        result = program("search", "llama3_8b_dgx_h100", *words)
        program.equal(result.code, 2, f"search {' '.join(words)}")
        program.expect(said in result.err, f"search {' '.join(words)} names {said}: {result.err}")
        program.equal(result.out, "", f"search {' '.join(words)} prints no result")
    program.equal(program("search").code, 2, "search of nothing")
