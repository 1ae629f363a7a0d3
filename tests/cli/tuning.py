"""Fine-tuning and offload: counts by hand, orders that hold whatever the constants, refusals."""

import json

LORA, QLORA, LARGE = "lora_llama3_8b_rtx4090", "qlora_llama_65b", "dgx_h100"
HIDDEN, KEYS, MLP, LAYERS = 4096, 1024, 14336, 32  # Llama 3 8B (arXiv 2407.21783, table 3)


def results(program, name, *settings, codes=(0,), options=()):
    words = [word for setting in settings for word in ("--set", setting)]
    run = program("run", program.config(name), "--json", *options, *words)
    program.expect(run.code in codes, f"{name} {settings} ends with {run.code}: {run.err.strip()[:300]}")
    return json.loads(run.out)["results"] if run.out else None


def term(found, name):
    return sum(each["bytes"] for each in found["memory"]["terms"] if each["name"] == name)


def close(program, found, wanted, what, tolerance=1e-9):
    program.expect(abs(found / wanted - 1) <= tolerance, f"{what}: {found} instead of {wanted}")


def adapters(program):
    """r (in + out) parameters a matrix; gradients and two moments in FP32 of these alone."""
    attention = (HIDDEN + HIDDEN) * 2 + (HIDDEN + KEYS) * 2
    every = attention + 3 * (HIDDEN + MLP)
    for rank, targets, widths in ((16, '["all"]', every), (8, '["attention"]', attention),
                                  (64, '["q", "v"]', 2 * HIDDEN + HIDDEN + KEYS)):
        found = results(program, LORA, f"finetune.rank={rank}", f"finetune.targets={targets}")
        trained = LAYERS * rank * widths
        program.equal(found["params_trained"], trained, f"trained parameters, rank {rank} on {targets}")
        close(program, term(found, "gradients"), 4 * trained, "gradients of adapters")
        close(program, term(found, "optimizer states"), 8 * trained, "moments of adapters")
        breakdown = sum(found["time_breakdown"].values())
        close(program, breakdown, found["step_time_s"], "breakdown of a LoRA step")
    # Forward 2 and data gradients 2 per weight and token where full training has 6; attention and adapters on top.
    lora, full = (results(program, LORA, *settings, codes=(0, 3)) for settings in
                  ((), ("finetune.rank=0", "finetune.targets=[]")))
    program.equal(full["params_trained"], full["params_total"], "all is trained without adapters")
    ratio = lora["model_flops_per_step"] / full["model_flops_per_step"]
    program.expect(0.66 < ratio < 0.70, f"LoRA does {ratio} of the FLOP of full training")
    program.expect(lora["step_time_s"] < full["step_time_s"], "LoRA is no quicker than full training")
    program.expect(lora["memory"]["fits"] and not full["memory"]["fits"], "LoRA fits 24 GB, full training does not")


def quantised(program):
    """Weights by hand: 4 bits and the scales of 64 values each, themselves in 8 bits with a constant for 256."""
    hidden, mlp, layers, vocabulary, rank = 8192, 22016, 80, 32000, 64  # LLaMA 65B (arXiv 2302.13971)
    matrices = layers * (4 * hidden * hidden + 3 * hidden * mlp)
    rest = 2 * vocabulary * hidden + (2 * layers + 1) * hidden
    adapted = layers * rank * (4 * 2 * hidden + 3 * (hidden + mlp))
    found = results(program, QLORA)
    program.equal(found["params_trained"], adapted, "trained parameters of QLoRA")
    program.equal(found["params_total"], matrices + rest, "parameters of LLaMA 65B")
    stored = matrices * (4 + 8 / 64 + 32 / (64 * 256)) / 8 + 2 * rest
    own = term(found, "weights") - stored
    # Adapters are stored in 16 or 32 bits, as the stack keeps what it trains.
    program.expect(2 * adapted * 0.999 < own < 4 * adapted * 1.001, f"QLoRA's weights: {own} bytes beside the base")
    program.expect(found["memory"]["fits"], "QLoRA of 65 billion parameters fits 48 GB")
    single = results(program, QLORA, "finetune.double_quantisation=false", codes=(0, 3))
    saved = matrices * (32 / 64 - 8 / 64 - 32 / (64 * 256)) / 8
    close(program, term(single, "weights") - term(found, "weights"), saved, "what double quantisation saves")
    # Opening matrices takes time and saves memory.
    plain, packed = results(program, LORA), results(program, LORA, 'finetune.base="nf4"')
    program.expect(packed["step_time_s"] > plain["step_time_s"], "NF4 costs no time")
    program.expect(term(packed, "weights") < 0.45 * term(plain, "weights"), "NF4 saves no memory")
    eight = results(program, LORA, 'finetune.base="int8"')
    program.expect(term(packed, "weights") < term(eight, "weights") < term(plain, "weights"), "INT8 is not between")


def frozen(program):
    """The more layers are frozen, the shorter the step and the less there is to keep."""
    before = None
    for layers in (0, 8, 16, 31):
        found = results(program, LORA, "finetune.rank=0", "finetune.targets=[]", "finetune.frozen_ends=true",
                        f"finetune.frozen_layers={layers}", codes=(0, 3))
        if before:
            for key in ("step_time_s", "params_trained", "model_flops_per_step"):
                program.expect(found[key] < before[key], f"{key} does not fall with {layers} frozen layers")
            program.expect(found["memory"]["peak_bytes"] < before["memory"]["peak_bytes"],
                           f"memory does not fall with {layers} frozen layers")
        before = found


def offload(program):
    kept = results(program, LARGE)
    program.expect("offload" not in kept["time_breakdown"], "nothing is offloaded, but it takes time")
    out = results(program, LARGE, "plan.offload.optimizer=host")
    program.expect(term(kept, "optimizer states") > 0 and term(out, "optimizer states") == 0, "states stay on the chip")
    program.expect(out["time_breakdown"]["offload"] > 0 and out["step_time_s"] > kept["step_time_s"],
                   "a host's update takes no time")
    for settings in (("plan.offload.optimizer=host",), ("plan.offload.activations=host",),
                     ("plan.zero=3", "plan.offload.parameters=host"),
                     ("plan.offload.optimizer=nvme", "plan.offload.activations=host")):
        both = {engine: results(program, LARGE, *settings, options=("--engine", engine)) for engine in
                ("analytic", "event")}
        for engine, found in both.items():
            close(program, sum(found["time_breakdown"].values()), found["step_time_s"], f"breakdown, {engine} {settings}")
            program.expect(found["memory"]["peak_bytes"] < results(program, LARGE, *settings[:-1])["memory"]["peak_bytes"],
                           f"{settings} saves no memory")
        close(program, both["event"]["step_time_s"], both["analytic"]["step_time_s"], f"engines, {settings}", 0.1)
    host, drive = (results(program, LARGE, f"plan.offload.activations={tier}") for tier in ("host", "nvme"))
    program.expect(drive["step_time_s"] > host["step_time_s"], "drives are no slower than memory")
    program.equal(drive["memory"]["peak_bytes"], host["memory"]["peak_bytes"], "a chip's memory, whatever the tier")
    # The node's memory is held to its capacity.
    small = results(program, LARGE, "plan.offload.optimizer=host", 'override.node."dgx-h100".host.capacity="8 GiB"',
                    codes=(3,))
    program.expect(not small["memory"]["fits"], "8 GiB hold the states of eight chips")


def refused(program):
    for name, settings, named in (
            (LORA, ("finetune.rank=5000",), "finetune.rank"),
            (LORA, ('finetune.targets=["table"]',), "finetune.targets"),
            (LORA, ('finetune.targets=["latent"]',), "finetune.targets"),
            (LORA, ("finetune.rank=0",), "targets"),
            (LORA, ("finetune.rank=0", "finetune.targets=[]", 'finetune.base="nf4"'), "finetune.base"),
            (LORA, ("finetune.frozen_layers=32",), "finetune.frozen_layers"),
            (LARGE, ("plan.offload.parameters=host",), "plan.offload.parameters"),
            (LORA, ("plan.offload.optimizer=nvme",), "plan.offload"),
            (LARGE, ("plan.offload.optimizer=tape",), "plan.offload.optimizer")):
        words = [word for setting in settings for word in ("--set", setting)]
        run = program("run", program.config(name), *words)
        program.equal(run.code, 2, f"exit code of {settings}")
        program.expect(named in run.err, f"{settings}: {named} is not named in {run.err.strip()[:200]!r}")


def tuning(program):
    for group in (adapters, quantised, frozen, offload, refused):
        group(program)
