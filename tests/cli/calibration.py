"""calibrate and --calibration from outside: constants are found again, and their file feeds every verb."""

import json

HEADER = "chip,precision,M,N,K,batch,tflops,time_us,library,condition\n"
SHAPES = [(m, n, k) for m in (4096, 8192) for n in (4096, 8192, 16384) for k in (4096, 8192)]


def calibration(program):
    truth = program.here / "truth.toml"
    truth.write_text('schema = 1\n[override.chip.h100.calibration]\ngemm.unit.bf16 = 0.75\n')
    rows = program.here / "rows.csv"
    row = "h100_sxm,bf16,{},{},{},1,,{},cublas,burst_random\n"
    rows.write_text(HEADER + "".join(row.format(*shape, 1) for shape in SHAPES))
    made = json.loads(program("validate", rows, "--calibration", truth, "--json").out)["files"][0]["rows"]
    times = [one["predicted"] * 1e6 for one in made]
    rows.write_text(HEADER + "".join(row.format(*s, t) for s, t in zip(SHAPES, times)))
    found = program("calibrate", rows, "--chip", "h100", "--fit", "gemm.unit.bf16", "-o", "fit.toml", "--json",
                    "--date", "2026-01-31")
    program.equal((found.code, found.err), (0, "wrote fit.toml\n"), "calibrate")
    fit = json.loads(found.out)
    program.equal([c["key"] for c in fit["constants"]], ["gemm.unit.bf16"], "what is fitted")
    program.expect(abs(fit["constants"][0]["after"] - 0.75) < 0.002, f"the constant is found: {fit['constants']}")
    overlay = (program.here / "fit.toml").read_text()
    program.expect('date           = "2026-01-31"' in overlay and "rows           = 12" in overlay, "provenance")
    program.equal(program("check", "fit.toml").code, 0, "the file that is written is good")
    again = json.loads(program("validate", rows, "--calibration", "fit.toml", "--json").out)
    program.equal(again["summary"]["time"]["mape"], fit["errors"]["after"]["mape"], "validate repeats the error")
    report = json.loads(program("run", "dgx_h100", "--calibration", "fit.toml", "--json").out)
    program.expect(any("Calibration fit.toml" in one for one in report["assumptions"]), "run says so")
    refused(program, rows, row)


def refused(program, rows, row):
    rows.write_text(HEADER + row.format(8192, 8192, 8192, 1500))
    (program.here / "fit.toml").unlink()
    result = program("calibrate", rows, "--chip", "h100", "-o", "fit.toml")
    program.equal(result.code, 1, "one row is too few")
    program.expect("1 distinct row is about it, 3 are needed" in result.out and "measure GEMMs" in result.out, result.out)
    program.expect(not (program.here / "fit.toml").exists(), "nothing is written")
    for words in (["calibrate"], ["calibrate", rows], ["calibrate", rows, "--chip", "h100", "-o", "x.json"],
                  ["calibrate", rows, "--chip", "h100", "--prior", "7"],
                  ["calibrate", rows, "--chip", "h100", "--fit", "gemm.strat"]):
        program.equal(program(*words).code, 2, f"{words} is refused")
