"""sweep: each point is what run says of it; files resume; mistakes are said in words."""

import json

TENSOR = ["1", "2", "4", "7", "8"]
WORDS = ("sweep", "dgx_h100", "--vary", "tp=" + ",".join(TENSOR), "--set", "plan.pipeline=1")


def sweep(program):
    against_run(program)
    forms(program)
    resumption(program)
    pictures(program)
    mistakes(program)


def against_run(program):
    result = program(*WORDS, "--json")
    report = json.loads(result.out)
    program.equal((result.code, report["schema"]), (0, "clustersim.sweep/1"), f"sweep ({result.err!r})")
    program.equal([point["tp"] for point in report["points"]], TENSOR, "points in the order given")
    statuses = {"0": "ok", "2": "n/a", "3": "oom"}
    for point in report["points"]:
        alone = program("run", "dgx_h100", "--set", "plan.pipeline=1", "--set", f"tp={point['tp']}", "--json")
        program.equal(point["status"], statuses[str(alone.code)], f"tp={point['tp']} ends as run does")
        program.equal(point["reason"] == "", point["status"] == "ok", f"tp={point['tp']} has a reason unless ok")
        if alone.code == 0:
            single = json.loads(alone.out)["results"]
            for field in ("step_time_s", "mfu", "hfu", "tokens_per_s", "tokens_per_s_per_chip"):
                program.equal(point[field], single[field], f"tp={point['tp']} has {field} of run")
            program.equal(point["memory_bytes"], single["memory"]["used_bytes"], "and its memory")
    program.expect({"ok", "n/a"} <= {p["status"] for p in report["points"]}, "some points run, some cannot")


def forms(program):
    one, two = (program(*WORDS, "--csv", "--threads", str(n)).out for n in (1, 3))
    program.equal(one, two, "any number of threads prints the same")
    program.equal(len(one.splitlines()), 1 + len(TENSOR), "CSV has a head and a line for each point")
    text = program(*WORDS)
    program.expect("n/a  tp=7: " in text.out, f"text says why: {text.out!r}")
    matrix = program(*WORDS, "--vary", "mbs=1,2", "--metric", "mfu").out
    program.expect("mbs across" in matrix and "%" in matrix, f"two keys make a matrix: {matrix!r}")
    triple = program(*WORDS, "--vary", "mbs=1,2", "--vary", "recompute=none,full")
    program.expect(triple.code == 0 and "recompute" in triple.out, "three keys make a list")
    too_large = program("sweep", "does_not_fit", "--vary", "training.sequence=2048")
    program.equal(too_large.code, program("run", "does_not_fit").code, "nothing fits: exit 3 as run")
    program.expect("oom" in too_large.out, "and oom in the table")
    program.equal(program("sweep", "dgx_h100", "--vary", "tp=7").code, 2, "nothing is feasible: exit 2")


def resumption(program):
    for ending in ("csv", "json"):
        path = program.here / f"sweep.{ending}"
        words = (*WORDS, "-o", path)
        program.equal(program(*words).code, 0, f"sweep to {ending}")
        whole = path.read_text()
        again = program(*words)
        taken = whole.count("ok") if ending == "csv" else sum(p["status"] != "n/a" for p in json.loads(whole)["points"])
        program.expect("taken over" in again.err, f"{ending}: points are taken over ({taken}): {again.err!r}")
        program.equal(path.read_text(), whole, f"{ending}: and the file stays the same")
        if ending == "csv":
            lines = whole.splitlines(keepends=True)
            path.write_text("".join(lines[:1] + lines[3:]))
        else:
            data = json.loads(whole)
            data["points"] = data["points"][2:]
            path.write_text(json.dumps(data))
        program.equal(program(*words).code, 0, f"{ending}: a file with missing points")
        program.equal(path.read_text(), whole, f"{ending}: is completed to the same bytes")
        other = program(*words, "--set", "gbs=1024")
        program.equal(other.code, 2, f"{ending}: other inputs are refused")
        program.expect("other inputs" in other.err, f"{ending}: in words: {other.err!r}")
        program.equal(program("sweep", "dgx_h100", "--vary", "mbs=1,2", "-o", path).code, 2, f"{ending}: other keys")
        program.equal(path.read_text(), whole, f"{ending}: a refused file is left alone")
        path.write_bytes(b"\xff\x00[[[[{{{{" * 100)
        program.equal(program(*words).code, 2, f"{ending}: garbage is refused")


def pictures(program):
    for name, more in (("line", ()), ("heat", ("--vary", "mbs=1,2"))):
        path = program.here / f"{name}.svg"
        program.equal(program(*WORDS, *more, "-o", path).code, 0, f"{name}.svg")
        picture = path.read_text()
        program.expect(picture.startswith("<svg ") and picture.endswith("</svg>\n"), f"{name}.svg is a picture")
        program.expect("n/a" in picture and "step time by tp" in picture, f"{name}.svg says what it shows")
    program.equal(program(*WORDS, "--vary", "mbs=1", "--vary", "seq=4k", "-o", "x.svg").code, 2, "no picture of three keys")


def mistakes(program):
    for words, said in [
        (("sweep",), "needs a scenario"),
        (("sweep", "dgx_h100"), "needs a key to vary"),
        (("sweep", "dgx_h100", "--vary", "tp"), "key and its values"),
        (("sweep", "dgx_h100", "--vary", "tp=8..1"), "downwards"),
        (("sweep", "dgx_h100", "--vary", "tp=1,1"), "stands twice"),
        (("sweep", "dgx_h100", "--vary", "tp=1", "--vary", "tp=2"), "varied twice"),
        (("sweep", "dgx_h100", "--vary", "tp=1..200", "--vary", "mbs=1..200"), "more than 10000 points"),
        (("sweep", "dgx_h100", "--vary", "tp=1", "--metric", "mfx"), 'did you mean "mfu"'),
        (("sweep", "dgx_h100", "--vary", "tp=1", "-o", "x.png"), "format"),
    ]:
        result = program(*words)
        program.equal((result.code, result.out), (2, ""), " ".join(words))
        program.expect(said in result.err, f"{' '.join(words)} says {said!r}: {result.err!r}")
    typo = program("sweep", "dgx_h100", "--vary", "plan.tensr=1")
    program.expect(typo.code == 2 and "tensr" in typo.out, f"an unknown key is the reason of its points: {typo.out!r}")
