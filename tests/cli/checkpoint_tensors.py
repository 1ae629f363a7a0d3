"""What the checkpoint of a Hugging Face configuration holds, tensor by tensor.

An oracle for `import hf` that shares nothing with it: no formulas, only the modules that each model class builds,
with the shapes of their weights, and the defaults of its configuration class. Tied weights appear once, buffers not at
all. Written from the library's configuration_*.py and modeling_*.py.
"""

import re

TABLES = {"model.embed_tokens.weight", "transformer.wte.weight", "transformer.wpe.weight", "gpt_neox.embed_in.weight",
          "decoder.embed_tokens.weight", "decoder.embed_positions.weight", "word_embeddings.weight",
          "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
          "embeddings.token_type_embeddings.weight", "shared.weight"}


class Checkpoint:
    """Tensors by name; a second tensor of one name is a mistake of this file."""

    def __init__(self):
        self.tensors = {}

    def add(self, name, *shape):
        assert name not in self.tensors, name
        count = 1
        for size in shape:
            count *= size
        self.tensors[name] = count

    def linear(self, name, inputs, outputs, bias):
        self.add(name + ".weight", outputs, inputs)
        if bias:
            self.add(name + ".bias", outputs)

    def norm(self, name, width, bias=False):
        self.add(name + ".weight", width)
        if bias:
            self.add(name + ".bias", width)

    def total(self):
        return sum(self.tensors.values())

    def active(self, top):
        """Without the routed experts beyond the first `top` of each layer: any `top` of them weigh the same."""
        routed = re.compile(r"\.experts\.(\d+)\.")
        return sum(count for name, count in self.tensors.items()
                   if not (found := routed.search(name)) or int(found.group(1)) < top)

    def tables(self):
        """Token, position and segment tables of the language model."""
        return sum(count for name, count in self.tensors.items() if name in TABLES)


class Config:
    """A configuration over the defaults of its class: a key that is absent has the class's value, null is None."""

    def __init__(self, given, defaults, names=()):
        self.values = dict(defaults)
        for key, value in given.items():
            self.values[dict(names).get(key, key)] = value

    def __getitem__(self, key):
        return self.values[key]

    def get(self, key, otherwise=None):
        value = self.values.get(key)
        return otherwise if value is None else value


LABELS = {"num_labels": None, "id2label": None, "architectures": None}


def labels(c):
    named = c.get("id2label")
    return len(named) if named is not None else c.get("num_labels", 2)


def ending(c, prefix):
    """ForCausalLM of LlamaForCausalLM."""
    listed = c.get("architectures")
    name = listed[0] if listed else prefix + "ForCausalLM"
    return name[len(prefix):]


def decoder_head(t, c, kind, width, vocabulary, tied, bias=False):
    """What stands on a decoder's last hidden state."""
    if kind in ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel", "ForConditionalGeneration"):
        if not tied:
            t.add("lm_head.weight", vocabulary, width)
        if bias:
            t.add("lm_head.bias", vocabulary)
    if kind == "DoubleHeadsModel":
        t.linear("multiple_choice_head.summary", width, 1, True)
    if kind == "ForSequenceClassification":
        t.linear("score", width, labels(c), False)
    if kind == "ForTokenClassification":
        t.linear("score", width, labels(c), True)
    if kind == "ForQuestionAnswering":
        t.linear("qa_outputs", width, 2, True)


def attention(t, p, hidden, heads, kv_heads, dim, qkv_bias, out_bias):
    t.linear(p + "q_proj", hidden, heads * dim, qkv_bias)
    t.linear(p + "k_proj", hidden, kv_heads * dim, qkv_bias)
    t.linear(p + "v_proj", hidden, kv_heads * dim, qkv_bias)
    t.linear(p + "o_proj", heads * dim, hidden, out_bias)


def gated(t, p, hidden, inner, bias=False):
    for name in ("gate_proj", "up_proj"):
        t.linear(p + name, hidden, inner, bias)
    t.linear(p + "down_proj", inner, hidden, bias)


LLAMA = dict(vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32,
             num_attention_heads=32, num_key_value_heads=None, head_dim=None, tie_word_embeddings=False,
             attention_bias=False, mlp_bias=False, **LABELS)

# What differs from Llama: defaults of the configuration class, then marks of the model class.
LIKE_LLAMA = {
    "llama": ("Llama", {}, {}),
    "mistral": ("Mistral", dict(intermediate_size=14336, num_key_value_heads=8), {"no_bias": True}),
    "mixtral": ("Mixtral", dict(intermediate_size=14336, num_key_value_heads=8, num_local_experts=8),
                {"no_bias": True, "experts": "num_local_experts"}),
    "qwen2": ("Qwen2", dict(vocab_size=151936, intermediate_size=22016, num_key_value_heads=32), {"qkv_bias": True}),
    "qwen2_moe": ("Qwen2Moe", dict(vocab_size=151936, hidden_size=2048, intermediate_size=5632, num_hidden_layers=24,
                                   num_attention_heads=16, num_key_value_heads=16, num_experts=60,
                                   moe_intermediate_size=1408, shared_expert_intermediate_size=5632, qkv_bias=True,
                                   decoder_sparse_step=1, mlp_only_layers=None),
                  {"qkv_bias": True, "experts": "num_experts", "shared": True}),
    "qwen3": ("Qwen3", dict(vocab_size=151936, intermediate_size=22016, num_key_value_heads=32, head_dim=128),
              {"qk_norm": "head"}),
    "qwen3_moe": ("Qwen3Moe", dict(vocab_size=151936, hidden_size=2048, intermediate_size=6144, num_hidden_layers=24,
                                   num_attention_heads=32, num_key_value_heads=4, num_experts=128,
                                   moe_intermediate_size=768, decoder_sparse_step=1, mlp_only_layers=None),
                  {"qk_norm": "head", "experts": "num_experts"}),
    "gemma": ("Gemma", dict(vocab_size=256000, hidden_size=3072, intermediate_size=24576, num_hidden_layers=28,
                            num_attention_heads=16, num_key_value_heads=16, head_dim=256, tie_word_embeddings=True), {}),
    "gemma2": ("Gemma2", dict(vocab_size=256000, hidden_size=2304, intermediate_size=9216, num_hidden_layers=26,
                              num_attention_heads=8, num_key_value_heads=4, head_dim=256, tie_word_embeddings=True),
               {"four_norms": True}),
    "gemma3_text": ("Gemma3", dict(vocab_size=262208, hidden_size=2304, intermediate_size=9216, num_hidden_layers=26,
                                   num_attention_heads=8, num_key_value_heads=4, head_dim=256,
                                   tie_word_embeddings=True), {"four_norms": True, "qk_norm": "head"}),
    "phi3": ("Phi3", dict(vocab_size=32064, hidden_size=3072, intermediate_size=8192), {"no_bias": True}),
    "olmo": ("Olmo", dict(vocab_size=50304), {"no_norms": True}),
    "olmo2": ("Olmo2", dict(vocab_size=50304), {"qk_norm": "width"}),
    "granite": ("Granite", {}, {}),
    "granitemoe": ("GraniteMoe", dict(num_local_experts=8), {"experts": "num_local_experts"}),
    "gpt_oss": ("GptOss", dict(vocab_size=201088, hidden_size=2880, intermediate_size=2880, num_hidden_layers=36,
                               num_attention_heads=64, num_key_value_heads=8, head_dim=64, num_local_experts=128,
                               attention_bias=True), {"experts": "num_local_experts", "sinks": True}),
}


def sparse_layer(c, layer):
    if layer in c.get("mlp_only_layers", []):
        return False
    return (layer + 1) % c.get("decoder_sparse_step", 1) == 0


def experts(t, p, c, marks):
    hidden, count = c["hidden_size"], c[marks["experts"]]
    inner = c.get("moe_intermediate_size", c["intermediate_size"])
    sinks = "sinks" in marks  # GPT-OSS: biases on router and experts
    t.linear(p + "router", hidden, count, sinks)
    for expert in range(count):
        gated(t, f"{p}experts.{expert}.", hidden, inner, sinks)
    if "shared" in marks:
        gated(t, p + "shared_expert.", hidden, c["shared_expert_intermediate_size"])
        t.linear(p + "shared_expert_gate", hidden, 1, False)


def like_llama_layer(t, p, c, marks, layer, dim):
    hidden, heads = c["hidden_size"], c["num_attention_heads"]
    kv_heads = c.get("num_key_value_heads", heads)
    bias = c["attention_bias"] and "no_bias" not in marks and "qkv_bias" not in marks
    qkv_bias = c.get("qkv_bias", True) if "qkv_bias" in marks else bias
    attention(t, p + "self_attn.", hidden, heads, kv_heads, dim, qkv_bias, bias)
    if "sinks" in marks:
        t.add(p + "self_attn.sinks", heads)
    widths = {"head": (dim, dim), "width": (heads * dim, kv_heads * dim)}.get(marks.get("qk_norm"), ())
    for name, width in zip(("q_norm", "k_norm"), widths):
        t.norm(p + "self_attn." + name, width)
    names = ["input_layernorm", "post_attention_layernorm"]
    if "four_norms" in marks:
        names += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    for name in names if "no_norms" not in marks else ():
        t.norm(p + name, hidden)
    if "experts" in marks and sparse_layer(c, layer):
        experts(t, p + "mlp.", c, marks)
    else:
        gated(t, p + "mlp.", hidden, c["intermediate_size"], c["mlp_bias"] and "no_bias" not in marks)


def like_llama(given, model_type):
    prefix, differs, marks = LIKE_LLAMA[model_type]
    c = Config(given, {**LLAMA, **differs},
               {"num_local_experts": "num_experts"} if model_type == "qwen3_moe" else {})
    t = Checkpoint()
    hidden = c["hidden_size"]
    dim = c.get("head_dim", hidden // c["num_attention_heads"])
    t.add("model.embed_tokens.weight", c["vocab_size"], hidden)
    for layer in range(c["num_hidden_layers"]):
        like_llama_layer(t, f"model.layers.{layer}.", c, marks, layer, dim)
    if "no_norms" not in marks:
        t.norm("model.norm", hidden)
    decoder_head(t, c, ending(c, prefix), hidden, c["vocab_size"], c["tie_word_embeddings"])
    return t


DEEPSEEK = dict(hidden_act="silu", head_dim=None, attention_bias=False, tie_word_embeddings=False, **LABELS)
DEEPSEEK_V2 = dict(DEEPSEEK, vocab_size=32000, hidden_size=4096, intermediate_size=11008, num_hidden_layers=32,
                   num_attention_heads=32, first_k_dense_replace=0, kv_lora_rank=512, q_lora_rank=1536,
                   n_routed_experts=64, n_shared_experts=2, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128,
                   moe_intermediate_size=1407)
DEEPSEEK_V3 = dict(DEEPSEEK, vocab_size=129280, hidden_size=7168, intermediate_size=18432, num_hidden_layers=61,
                   num_attention_heads=128, first_k_dense_replace=3, kv_lora_rank=512, q_lora_rank=1536,
                   n_routed_experts=256, n_shared_experts=1, qk_nope_head_dim=128, qk_rope_head_dim=64,
                   v_head_dim=128, moe_intermediate_size=2048)


def latent_attention(t, p, c):
    hidden, heads, bias = c["hidden_size"], c["num_attention_heads"], c["attention_bias"]
    query = heads * (c["qk_nope_head_dim"] + c["qk_rope_head_dim"])
    if c["q_lora_rank"] is None:
        t.linear(p + "q_proj", hidden, query, False)
    else:
        t.linear(p + "q_a_proj", hidden, c["q_lora_rank"], bias)
        t.norm(p + "q_a_layernorm", c["q_lora_rank"])
        t.linear(p + "q_b_proj", c["q_lora_rank"], query, False)
    t.linear(p + "kv_a_proj_with_mqa", hidden, c["kv_lora_rank"] + c["qk_rope_head_dim"], bias)
    t.norm(p + "kv_a_layernorm", c["kv_lora_rank"])
    t.linear(p + "kv_b_proj", c["kv_lora_rank"], heads * (c["qk_nope_head_dim"] + c["v_head_dim"]), False)
    t.linear(p + "o_proj", heads * c["v_head_dim"], hidden, bias)


def deepseek(given, model_type):
    v2 = model_type == "deepseek_v2"
    c = Config(given, DEEPSEEK_V2 if v2 else DEEPSEEK_V3, {"num_local_experts": "n_routed_experts"})
    t = Checkpoint()
    hidden = c["hidden_size"]
    t.add("model.embed_tokens.weight", c["vocab_size"], hidden)
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        latent_attention(t, p + "self_attn.", c)
        for name in ("input_layernorm", "post_attention_layernorm"):
            t.norm(p + name, hidden)
        if layer < c["first_k_dense_replace"]:
            gated(t, p + "mlp.", hidden, c["intermediate_size"])
            continue
        t.add(p + "mlp.gate.weight", c["n_routed_experts"], hidden)
        for expert in range(c["n_routed_experts"]):
            gated(t, f"{p}mlp.experts.{expert}.", hidden, c["moe_intermediate_size"])
        if c.get("n_shared_experts", 0) > 0:
            gated(t, p + "mlp.shared_experts.", hidden, c["moe_intermediate_size"] * c["n_shared_experts"])
    t.norm("model.norm", hidden)
    decoder_head(t, c, ending(c, "DeepseekV2" if v2 else "DeepseekV3"), hidden, c["vocab_size"],
                 c["tie_word_embeddings"])
    return t


# Gemma 3 with pictures: the text model, a SigLIP tower, and what joins them.
SIGLIP = dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, num_channels=3,
              image_size=224, patch_size=16, vision_use_head=True)


def siglip(t, given):
    c = Config(given, SIGLIP)
    hidden, inner, patch = c["hidden_size"], c["intermediate_size"], c["patch_size"]
    t.add("vision.patch_embedding.weight", hidden, c["num_channels"], patch, patch)
    t.add("vision.patch_embedding.bias", hidden)
    t.add("vision.position_embedding.weight", (c["image_size"] // patch) ** 2, hidden)
    for layer in range(c["num_hidden_layers"]):
        p = f"vision.layers.{layer}."
        attention(t, p, hidden, 1, 1, hidden, True, True)
        t.linear(p + "fc1", hidden, inner, True)
        t.linear(p + "fc2", inner, hidden, True)
        for name in ("layer_norm1", "layer_norm2"):
            t.norm(p + name, hidden, True)
    t.norm("vision.post_layernorm", hidden, True)
    if c["vision_use_head"]:
        t.add("vision.head.probe", 1, 1, hidden)
        t.linear("vision.head.attention.in_proj", hidden, 3 * hidden, True)
        t.linear("vision.head.attention.out_proj", hidden, hidden, True)
        t.norm("vision.head.layernorm", hidden, True)
        t.linear("vision.head.mlp.fc1", hidden, inner, True)
        t.linear("vision.head.mlp.fc2", inner, hidden, True)
    return hidden


def gemma3(given, _):
    text = dict(given.get("text_config") or {})
    tied = {"tie_word_embeddings": given["tie_word_embeddings"]} if "tie_word_embeddings" in given else {}
    t = like_llama({**text, **tied, "architectures": ["Gemma3ForCausalLM"]}, "gemma3_text")
    width = siglip(t, given.get("vision_config") or {})
    t.add("projector.mm_input_projection_weight", width, text.get("hidden_size", 2304))
    t.norm("projector.mm_soft_emb_norm", width)
    return t


BUILDERS = {**{name: like_llama for name in LIKE_LLAMA}, "deepseek_v2": deepseek, "deepseek_v3": deepseek,
            "gemma3": gemma3}
