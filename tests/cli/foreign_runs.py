"""import megatron and import calculon: whole runs in another tool's words become configs that run."""

import json
import tomllib

SCRIPT = """#!/bin/bash
# GPT-3 175B on 128 chips
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=8
NNODES=16
TP=8
PP=16
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NNODES
)
GPT_MODEL_ARGS=(
    --num-layers 96   # deep
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --fp16 --lr 6.0e-5 --use-distributed-optimizer
    --recompute-granularity full
)
PARALLEL="--tensor-model-parallel-size ${TP:-4} --pipeline-model-parallel-size=$PP \\
  --num-layers-per-virtual-pipeline-stage 2 --sequence-parallel"
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \\
    ${GPT_MODEL_ARGS[@]} \\
    "${TRAINING_ARGS[@]}" $PARALLEL --tokenizer-type 'GPT2BPETokenizer'
"""

MIXTRAL = """--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --group-query-attention --num-query-groups 8
--ffn-hidden-size 14336 --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights
--position-embedding-type rope --seq-length 4096 --tokenizer-type Llama2Tokenizer --num-experts 8 --moe-router-topk 2
--expert-model-parallel-size 8 --tensor-model-parallel-size 1 --pipeline-model-parallel-size 4 --window-size 1023,0
--micro-batch-size 1 --global-batch-size 256 --bf16 --use-distributed-optimizer --attention-dropout 0 --hidden-dropout 0.0
"""

DEEPSEEK = """--num-layers 61 --hidden-size 7168 --num-attention-heads 128 --ffn-hidden-size 18432 --swiglu
--normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights --position-embedding-type rope
--seq-length 4096 --vocab-size 129280 --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128
--qk-pos-emb-head-dim 64 --v-head-dim 128 --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048
--moe-shared-expert-intermediate-size 2048 --moe-layer-freq ([0]*3+[1]*58) --mtp-num-layers 1 --fp8-format hybrid --bf16
--tensor-model-parallel-size 1 --pipeline-model-parallel-size 16 --expert-model-parallel-size 64 --global-batch-size 8192
--use-distributed-optimizer --attention-dropout 0 --hidden-dropout 0 --recompute-granularity full
"""

WRONG = [
    ("", "no argument"), ("--num-layers", "--num-layers is no whole number"),
    ("--num-layers -3 --hidden-size 64 --num-attention-heads 4 --seq-length 64", "no whole number: '-3'"),
    ("--num-layers 2 --hidden-size $H --num-attention-heads 4 --seq-length 64", "no whole number: '$H'"),
    ("--num-layers 2 --num-attention-heads 4 --seq-length 64", "'--hidden-size' is missing"),
    ("--num-layers 1e30 --hidden-size 64 --num-attention-heads 4 --seq-length 64", "no whole number"),
    ("--num-layers 7 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --pipeline-model-parallel-size 8 --bf16",
     "cannot fill"),
    ("--num-layers 8 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --tensor-model-parallel-size 99999999",
     "1 to 100,000"),
    ("A=x" + "A=\"$A$A$A$A\" " * 20000 + "--num-layers $A", "no argument"),
    ("A=(" * 5000 + "--num-layers 1", "no argument"),
]

APPLICATION = {"hidden": 12288, "feedforward": 49152, "seq_size": 2048, "attn_heads": 96, "attn_size": 128,
               "num_blocks": 96}
EXECUTION = {"num_procs": 64, "tensor_par": 8, "pipeline_par": 8, "data_par": 1, "tensor_par_net": 1,
             "pipeline_par_net": 2, "data_par_net": 2, "batch_size": 64, "microbatch_size": 1, "datatype": "float16",
             "activation_recompute": "attn_only", "pipeline_interleaving": 3, "optimizer_sharding": False,
             "tensor_par_comm_type": "rs_ag", "seq_par_ag_redo": True, "data_par_overlap": False,
             "weight_offload": False, "activations_offload": False, "optimizer_offload": False, "training": True}
SYSTEM = {"matrix": {"tflops": 312}, "vector": {"tflops": 78}, "mem1": {"GiB": 80, "GBps": 2039}, "mem2": {},
          "networks": [{"bandwidth": 300, "size": 8}, {"bandwidth": 25, "size": 65536}]}


def megatron(program, text):
    (program.here / "run.sh").write_text(text)
    return program("import", "megatron", "run.sh", "--json", "-o", "run.toml")


def written(program):
    return tomllib.loads((program.here / "run.toml").read_text())


def runs(program, what):
    answer = program("run", "run.toml", "--json")
    program.expect(answer.code in (0, 3) and json.loads(answer.out)["results"]["step_time_s"] > 0,
                   f"run of {what}: {answer.err}")


def scripts(program):
    answer = megatron(program, SCRIPT)
    program.equal(answer.code, 0, f"GPT-3's script: {answer.err}")
    found = json.loads(answer.out)
    h = 12288
    program.equal(found["params_total"], 96 * (12 * h * h + 13 * h) + (51200 + 2048) * h + 2 * h, "GPT-3's parameters")
    program.equal(found["ignored"], ["--lr"], "GPT-3's script: ignored")
    config = written(program)
    program.equal((config["cluster"]["nodes"], config["plan"]["virtual_stages"], config["plan"]["zero"]), (16, 3, 1),
                  "GPT-3's plan")
    program.equal(config["training"]["precision"], "fp16", "GPT-3's precision")
    runs(program, "GPT-3")
    answer = megatron(program, MIXTRAL)
    program.equal(answer.code, 0, f"Mixtral's arguments: {answer.err}")
    program.equal(json.loads(answer.out)["params_total"], 46702792704, "Mixtral's parameters")
    config = written(program)
    program.equal((config["model"]["window"], config["training"]["dropout"], config["cluster"]["nodes"]),
                  (1024, False, 4), "Mixtral's window, dropout, nodes")
    runs(program, "Mixtral")
    answer = megatron(program, DEEPSEEK)
    program.equal(answer.code, 0, f"DeepSeek-V3's arguments: {answer.err}")
    layer = 187107328 + 2 * 7168 + 7168 * 256 + 257 * 3 * 7168 * 2048
    program.equal(json.loads(answer.out)["params_total"], 671026404352 + layer + 2 * 7168**2 + 3 * 7168,
                  "DeepSeek-V3's parameters with its prediction module")
    config = written(program)
    program.equal((config["model"]["moe"]["dense_layers"], config["training"]["precision"]), ([0, 1, 2], "fp8"),
                  "DeepSeek-V3's dense layers")
    runs(program, "DeepSeek-V3")


def calculon(program, application=None, execution=None, system=None):
    for name, base, change in (("a", APPLICATION, application), ("e", EXECUTION, execution), ("s", SYSTEM, system)):
        (program.here / f"{name}.json").write_text(json.dumps({**base, **(change or {})}))
    return program("import", "calculon", "s.json", "a.json", "e.json", "--json", "-o", "run.toml")


def calculons(program):
    answer = calculon(program)
    program.equal(answer.code, 0, f"Calculon's 175B: {answer.err}")
    config = written(program)
    program.equal((config["cluster"]["node"], config["cluster"]["nodes"]), ("dgx-a100-80", 8), "Calculon's machine")
    program.equal((config["plan"]["sequence_parallel"], config["plan"]["recompute"]), (True, "selective"), "its plan")
    runs(program, "Calculon's 175B")
    for change, words in ((dict(execution={"weight_offload": True}), "offload"),
                          (dict(execution={"training": False}), "inference"),
                          (dict(execution={"num_procs": 0}), "'num_procs' is 0"),
                          (dict(execution={"datatype": "posit"}), "'datatype' is unknown"),
                          (dict(execution={"tensor_par": 7}), "error"),
                          (dict(application={"hidden": "wide"}), "no whole number"),
                          (dict(system={"mem1": {"GiB": -1, "GBps": 1}}), "'GiB' is no number"),
                          (dict(system={"networks": []}), "'networks' is no list")):
        answer = calculon(program, **change)
        program.expect(answer.code == 2 and words in answer.err, f"Calculon with {change}: {answer.err}")
    answer = program("import", "calculon", "a.json", "a.json", "e.json")
    program.expect(answer.code == 2 and "second file of one kind" in answer.err, f"a file twice: {answer.err}")


def foreign_runs(program):
    scripts(program)
    for text, words in WRONG:
        answer = megatron(program, text)
        program.expect(answer.code == 2 and words in answer.err, f"{text[:60]!r}: {answer.err[:300]}")
    calculons(program)
    program.equal(program("import", "megatron", "absent.sh").code, 74, "no such script")
