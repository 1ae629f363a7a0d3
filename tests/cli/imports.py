"""import hf: counts of published checkpoints from the sizes in their config.json, and of drawn ones; hostile files.

Totals of CHECKPOINTS are those that Hugging Face shows for the public checkpoints (safetensors), without buffers; those
of drawn configurations are summed over the tensors that the model class builds (checkpoint_tensors.py).
"""

import json
import tomllib

from checkpoint_tensors_older import BUILDERS
from published_configs import PUBLISHED
from varied_configs import varied


def base(model_type, layers, hidden, heads, kv_heads, ffn, vocabulary, **more):
    return {"model_type": model_type, "num_hidden_layers": layers, "hidden_size": hidden,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": ffn,
            "vocab_size": vocabulary, "max_position_embeddings": 4096, **more}


CHECKPOINTS = [
    (8030261248, base('llama',32,4096,32,8,14336,128256)),
    (7241732096, base('mistral',32,4096,32,8,14336,32000,sliding_window=4096)),
    (46702792704, base('mixtral',32,4096,32,8,14336,32000,num_local_experts=8,num_experts_per_tok=2)),
    (494032768, base('qwen2',24,896,14,2,4864,151936,tie_word_embeddings=True)),
    (14315784192, base('qwen2_moe',24,2048,16,16,5632,151936,num_experts=60,num_experts_per_tok=4,moe_intermediate_size=1408,shared_expert_intermediate_size=5632)),
    (8190735360, base('qwen3',36,4096,32,8,12288,151936,head_dim=128)),
    (30532122624, base('qwen3_moe',48,2048,32,4,6144,151936,head_dim=128,num_experts=128,num_experts_per_tok=8,moe_intermediate_size=768)),
    (2506172416, base('gemma',18,2048,8,1,16384,256000,head_dim=256)),
    (2614341888, base('gemma2',26,2304,8,4,9216,256000,head_dim=256)),
    (999885952, base('gemma3_text',26,1152,4,1,6912,262144,head_dim=256)),
    (124439808, dict(model_type='gpt2',n_embd=768,n_layer=12,n_head=12,vocab_size=50257,n_positions=1024)),
    (6050882784, dict(model_type='gptj',n_embd=4096,n_layer=28,n_head=16,vocab_size=50400,n_positions=2048)),
    (20554567680, base('gpt_neox',44,6144,64,64,24576,50432)),
    (2779683840, base('phi',32,2560,32,32,10240,51200)),
    (3821079552, base('phi3',32,3072,32,32,8192,32064)),
    (125239296, dict(model_type='opt',hidden_size=768,num_hidden_layers=12,num_attention_heads=12,ffn_dim=3072,vocab_size=50272,max_position_embeddings=2048)),
    (331196416, dict(model_type='opt',hidden_size=1024,num_hidden_layers=24,num_attention_heads=16,ffn_dim=4096,vocab_size=50272,max_position_embeddings=2048,word_embed_proj_dim=512,do_layer_norm_before=False)),
    (6888095744, base('olmo',32,4096,32,32,11008,50304)),
    (7298617344, base('olmo2',32,4096,32,32,11008,100352)),
    (8170848256, base('granite',40,4096,32,8,12800,49155,tie_word_embeddings=True)),
    (15706484224, base('deepseek_v2',27,2048,16,16,10944,102400,n_routed_experts=64,n_shared_experts=2,num_experts_per_tok=6,moe_intermediate_size=1408,first_k_dense_replace=1,kv_lora_rank=512,q_lora_rank=None,qk_nope_head_dim=128,qk_rope_head_dim=64,v_head_dim=128)),
    (671026404352, base('deepseek_v3',61,7168,128,128,18432,129280,n_routed_experts=256,n_shared_experts=1,num_experts_per_tok=8,moe_intermediate_size=2048,first_k_dense_replace=3,kv_lora_rank=512,q_lora_rank=1536,qk_nope_head_dim=128,qk_rope_head_dim=64,v_head_dim=128,num_nextn_predict_layers=1)),
    (20914757184, base('gpt_oss',24,2880,64,8,2880,201088,head_dim=64,num_local_experts=32,num_experts_per_tok=4,sliding_window=128)),
    (7069016064, dict(model_type='bloom', n_layer=30, hidden_size=4096, n_head=32, vocab_size=250880)),
    (6921720704, dict(model_type='falcon', num_hidden_layers=32, hidden_size=4544, num_attention_heads=71, vocab_size=65024)),
    (41303293952, dict(model_type='falcon', num_hidden_layers=60, hidden_size=8192, num_attention_heads=128, num_kv_heads=8,
                       new_decoder_architecture=True, vocab_size=65024)),
    (6649286656, dict(model_type='mpt', n_layers=32, d_model=4096, n_heads=32, vocab_size=50432)),
    (131596523520, dict(model_type='dbrx', n_layers=40, d_model=6144, n_heads=48, vocab_size=100352,
                        attn_config={"kv_n_heads": 8},
                        ffn_config={"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4})),
    (335174458, dict(model_type='bert', num_hidden_layers=24, hidden_size=1024, num_attention_heads=16, intermediate_size=4096,
                     vocab_size=30522)),
    (124697433, dict(model_type='roberta', num_hidden_layers=12, hidden_size=768, num_attention_heads=12,
                     intermediate_size=3072, vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)),
    (4300079472, dict(model_type='gemma3', architectures=["Gemma3ForConditionalGeneration"],
                      text_config=dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34, sliding_window=1024),
                      vision_config=dict(hidden_size=1152, image_size=896, intermediate_size=4304, num_attention_heads=16,
                                         num_hidden_layers=27, patch_size=14, vision_use_head=False))),
    (27432406640, dict(model_type='gemma3', architectures=["Gemma3ForConditionalGeneration"],
                       text_config=dict(hidden_size=5376, intermediate_size=21504, num_hidden_layers=62, head_dim=128,
                                        num_attention_heads=32, num_key_value_heads=16, sliding_window=1024),
                       vision_config=dict(hidden_size=1152, image_size=896, intermediate_size=4304,
                                          num_attention_heads=16, num_hidden_layers=27, patch_size=14,
                                          vision_use_head=False))),
    (109482240, dict(model_type='bert', architectures=["BertModel"])),
    (110106428, dict(model_type='bert', architectures=["BertForPreTraining"])),
    (222903552, dict(model_type='t5', num_layers=12, d_model=768, num_heads=12, d_kv=64, d_ff=3072, vocab_size=32128)),
]

TOP = {"mixtral": 2, "qwen2_moe": 4, "qwen3_moe": 8, "granitemoe": 2, "gpt_oss": 4, "deepseek_v3": 8}  # by default
TOO_BIG = base("llama", 10**11, 10**11, 10**11, 1, 64, 100)
HOSTILE = [
    "", "[]", "{", "[" * 100000, '{"model_type": 3}', '{"model_type": "llama", "hidden_size": "wide"}',
    '{"model_type": "llama", "hidden_size": NaN}', '{"model_type": "llama", "hidden_size": 1e999}',
    json.dumps(base("llama", 0, 64, 4, 4, 64, 100)), json.dumps(base("llama", 2, 1e300, 4, 4, 64, 100)),
    json.dumps(base("llama", 2, -5, 4, 4, 64, 100)), json.dumps(TOO_BIG),
    json.dumps(base("mamba", 2, 64, 4, 4, 64, 100)),
    json.dumps(base("llama", 2, 64, 4, 4, 64, 100, architectures=["LlavaForConditionalGeneration"])),
    json.dumps(base("llama", 2, 64, 4, 4, 64, 100, architectures=["LlamaForDreaming"])),
    json.dumps(base("llama", 2, 64, 4, 4, 64, 100, architectures=5)),
    json.dumps(base("gemma3_text", 2, 64, 4, 4, 64, 100, layer_types=["sliding_attention"])),
    json.dumps(base("qwen2_moe", 2, 64, 4, 4, 64, 100, mlp_only_layers=[-1])),
    json.dumps(base("qwen3_moe", 2, 64, 4, 4, 64, 100, decoder_sparse_step=0)),
    json.dumps({"model_type": "gemma3", "vision_config": {"patch_size": 10**11, "hidden_size": 10**11}}),
    json.dumps({"model_type": "gemma3", "text_config": [1]}),
    json.dumps({"model_type": "t5", "num_layers": {"a": 1}}),
    '{"model_type": "llama", "hidden_size": ' + "9" * 5000 + "}",
    '{"model_type": "\\ud800"}', '{"a": ' * 70 + "1" + "}" * 70,
]
# Text, and where it breaks.
BROKEN = [
    ('{"model_type": "llama",\n  "hidden_size" 4096}', "2:17"),
    ('{\n  "model_type": "llama",\n  "vocab_size": tru\n}', "3:17"),
    ('{"model_type": "llama"', "1:23"),
    ('{"model_type": "llama",\n "num_attention_heads": -1}', "2:2"),
]


def imports(program):
    for i, (total, config) in enumerate(CHECKPOINTS):
        (program.here / "config.json").write_text(json.dumps(config))
        answer = program("import", "hf", "config.json", "--json", "-o", f"m{i}.toml")
        program.equal(answer.code, 0, f"import of {config['model_type']}")
        if answer.code == 0:
            program.equal(json.loads(answer.out)["params_total"], total, config["model_type"])
            program.equal(program("check", f"m{i}.toml").code, 0, f"written {config['model_type']}")
    published(program)
    written(program)
    answer = program("import", "hf", "config.json", "-o", "x.yaml")
    program.expect(answer.code == 2 and "end the name with .toml" in answer.err, f"a hint for x.yaml: {answer.err}")
    for text, place in BROKEN:
        (program.here / "config.json").write_text(text)
        answer = program("import", "hf", "config.json")
        program.expect(answer.code == 2 and f"config.json:{place}: error:" in answer.err, f"{text!r}: {answer.err}")
    for text in HOSTILE:
        (program.here / "config.json").write_text(text)
        answer = program("import", "hf", "config.json")
        program.equal((answer.code, answer.out), (2, ""), f"import of {text[:60]}")
        program.expect("error:" in answer.err, f"a reason against {text[:60]}")
    active(program)
    in_a_scenario(program)
    windows(program)


def published(program):
    """The file of the catalogue, the import and the tensors of each published checkpoint."""
    for name, config in PUBLISHED.items():
        shipped = tomllib.loads((program.source / "models" / "transformers" / f"{name}.toml").read_text())
        (program.here / "config.json").write_text(json.dumps(config))
        answer = program("import", "hf", "config.json", "--json")
        program.equal(answer.code, 0, f"import of {name}: {answer.err}")
        tensors = BUILDERS[config["model_type"]](config, config["model_type"]).total()
        program.equal(tensors, shipped["model"].get("published_parameters", tensors), f"tensors of {name}")
        program.equal(json.loads(answer.out or "{}").get("params_total"), tensors, f"import of {name}")


def written(program):
    """Hundreds of drawn configurations against the tensors that their classes build."""
    for config in varied(12):
        (program.here / "config.json").write_text(json.dumps(config))
        answer = program("import", "hf", "config.json", "--json")
        kind = config["model_type"]
        program.equal(answer.code, 0, f"import of {config}: {answer.err}")
        if answer.code == 0:
            tensors, found = BUILDERS[kind](config, kind), json.loads(answer.out)
            program.equal(found["params_total"], tensors.total(), f"total of {config}")
            program.equal(found["params_embedding"], tensors.tables(), f"tables of {config}")
            top = config.get("num_experts_per_tok", TOP.get(kind, 0))
            if kind != "dbrx":
                program.equal(found["params_active"], tensors.active(top), f"active parameters of {config}")


WINDOWS = [  # what a configuration says of windows, and the keys that it becomes
    (base("mistral", 4, 64, 4, 4, 64, 100), {"window": 4096}),
    (base("mistral", 4, 64, 4, 4, 64, 100, sliding_window=None), {}),
    (base("gemma2", 4, 64, 4, 4, 64, 100), {"window": 4096, "full_every": 2}),
    (base("gemma3_text", 7, 64, 4, 4, 64, 100, sliding_window=512), {"window": 512, "full_every": 6}),
    (base("gemma3_text", 4, 64, 4, 4, 64, 100), {"window": 4096}),
    (base("gemma3_text", 4, 64, 4, 4, 64, 100, sliding_window_pattern=1), {}),
    (base("gpt_oss", 4, 64, 4, 4, 64, 100), {"window": 128, "full_every": 2}),
    (base("gpt_oss", 3, 64, 4, 4, 64, 100, layer_types=["full_attention", "sliding_attention", "full_attention"]),
     {"window": 128, "full_layers": [0, 2]}),
    (base("qwen2", 4, 64, 4, 4, 64, 100, use_sliding_window=True, max_window_layers=3),
     {"window": 4096, "full_layers": [0, 1, 2]}),
    (base("qwen2", 4, 64, 4, 4, 64, 100, use_sliding_window=True, max_window_layers=28), {}),
    (base("qwen3", 4, 64, 4, 4, 64, 100, sliding_window=64), {}),
]


def windows(program):
    for config, wanted in WINDOWS:
        (program.here / "config.json").write_text(json.dumps(config))
        answer = program("import", "hf", "config.json", "-o", "m.toml")
        program.equal(answer.code, 0, f"import of {config}: {answer.err}")
        model = tomllib.loads((program.here / "m.toml").read_text())["model"]
        found = {key: model[key] for key in ("window", "full_every", "full_layers") if key in model}
        program.equal(found, wanted, f"windows of {config}")


SCENARIO = """schema = 1
[cluster]
node = "dgx-h100"
[model]
hf = "models/config.json"
sequence_default = 2048
[training]
global_batch = 8
stack = "megatron-core-2024"
[plan]
tensor = 8
"""


def in_a_scenario(program):
    """[model] hf: relative to the scenario, keys of its own over it, mistakes at their place in the JSON."""
    (program.here / "models").mkdir(exist_ok=True)
    config = program.here / "models" / "config.json"
    config.write_text(json.dumps(base("llama", 32, 4096, 32, 8, 14336, 128256)))
    (program.here / "run.toml").write_text(SCENARIO)
    answer = program("run", "run.toml", "--json")
    program.expect(answer.code in (0, 3), f"run of a config.json: {answer.err}")
    found = json.loads(answer.out)
    program.equal(found["results"]["params_total"], 8030261248, "parameters of [model] hf")
    program.expect(any("tie_word_embeddings = false" in text for text in found["assumptions"]), "defaults are assumptions")
    config.write_text('{"model_type": "llama",\n "vocab_size": -1}')
    answer = program("run", "run.toml")
    program.expect(answer.code == 2 and "config.json:2:2: error:" in answer.err, f"a mistake in it: {answer.err}")
    config.unlink()
    program.equal(program("run", "run.toml").code, 74, "no config.json")
    (program.here / "run.toml").write_text(SCENARIO.replace("hf =", 'use = "gpt2"\nhf ='))
    answer = program("run", "run.toml")
    program.expect(answer.code == 2 and "both 'use' and 'hf'" in answer.err, f"use and hf: {answer.err}")


def active(program):
    """Mixtral: two of eight experts work; what bears on nothing is listed."""
    config = base("mixtral", 32, 4096, 32, 8, 14336, 32000, num_local_experts=8, num_experts_per_tok=2,
                  bos_token_id=1)
    (program.here / "config.json").write_text(json.dumps(config))
    found = json.loads(program("import", "hf", "config.json", "--json").out)
    program.equal(found["params_total"] - found["params_active"], 32 * 6 * 3 * 4096 * 14336, "resting experts")
    program.equal(found["params_embedding"], 32000 * 4096, "embedding")
    program.equal(found["ignored"], ["bos_token_id"], "ignored keys")
    program.expect("tie_word_embeddings = false" in found["defaulted"], "defaulted keys")
