"""The rest of checkpoint_tensors.py: model types with names of their own for sizes, and those that are no decoders."""

from checkpoint_tensors import BUILDERS, LABELS, Checkpoint, Config, decoder_head, ending, labels

GPT2_NAMES = {"hidden_size": "n_embd", "max_position_embeddings": "n_positions", "num_attention_heads": "n_head",
              "num_hidden_layers": "n_layer"}
GPT2 = dict(vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12, n_inter=None, n_inner=None,
            tie_word_embeddings=True, **LABELS)
GPTJ = dict(GPT2, vocab_size=50400, n_positions=2048, n_embd=4096, n_layer=28, n_head=16, tie_word_embeddings=False)


def gpt2(given, _):
    c = Config(given, GPT2, GPT2_NAMES)
    t = Checkpoint()
    hidden = c["n_embd"]
    inner = c.get("n_inner", 4 * hidden)
    t.add("transformer.wte.weight", c["vocab_size"], hidden)
    t.add("transformer.wpe.weight", c["n_positions"], hidden)
    for layer in range(c["n_layer"]):
        p = f"transformer.h.{layer}."
        t.norm(p + "ln_1", hidden, True)
        t.linear(p + "attn.c_attn", hidden, 3 * hidden, True)
        t.linear(p + "attn.c_proj", hidden, hidden, True)
        t.norm(p + "ln_2", hidden, True)
        t.linear(p + "mlp.c_fc", hidden, inner, True)
        t.linear(p + "mlp.c_proj", inner, hidden, True)
    t.norm("transformer.ln_f", hidden, True)
    listed = c.get("architectures", ["GPT2LMHeadModel"])
    decoder_head(t, c, listed[0][len("GPT2"):], hidden, c["vocab_size"], c["tie_word_embeddings"])
    return t


def gptj(given, _):
    c = Config(given, GPTJ, GPT2_NAMES)
    t = Checkpoint()
    hidden = c["n_embd"]
    inner = c.get("n_inner", 4 * hidden)
    t.add("transformer.wte.weight", c["vocab_size"], hidden)
    for layer in range(c["n_layer"]):
        p = f"transformer.h.{layer}."
        t.norm(p + "ln_1", hidden, True)
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            t.linear(p + "attn." + name, hidden, hidden, False)
        t.linear(p + "mlp.fc_in", hidden, inner, True)
        t.linear(p + "mlp.fc_out", inner, hidden, True)
    t.norm("transformer.ln_f", hidden, True)
    decoder_head(t, c, ending(c, "GPTJ"), hidden, c["vocab_size"], c["tie_word_embeddings"], bias=True)
    return t


NEOX = dict(vocab_size=50432, hidden_size=6144, num_hidden_layers=44, num_attention_heads=64, intermediate_size=24576,
            tie_word_embeddings=False, attention_bias=True, **LABELS)


def gpt_neox(given, _):
    c = Config(given, NEOX)
    t = Checkpoint()
    hidden = c["hidden_size"]
    t.add("gpt_neox.embed_in.weight", c["vocab_size"], hidden)
    for layer in range(c["num_hidden_layers"]):
        p = f"gpt_neox.layers.{layer}."
        t.norm(p + "input_layernorm", hidden, True)
        t.norm(p + "post_attention_layernorm", hidden, True)
        t.linear(p + "attention.query_key_value", hidden, 3 * hidden, c["attention_bias"])
        t.linear(p + "attention.dense", hidden, hidden, c["attention_bias"])
        t.linear(p + "mlp.dense_h_to_4h", hidden, c["intermediate_size"], True)
        t.linear(p + "mlp.dense_4h_to_h", c["intermediate_size"], hidden, True)
    t.norm("gpt_neox.final_layer_norm", hidden, True)
    decoder_head(t, c, ending(c, "GPTNeoX"), hidden, c["vocab_size"], c["tie_word_embeddings"])
    return t


PHI = dict(vocab_size=51200, hidden_size=2048, intermediate_size=8192, num_hidden_layers=24, num_attention_heads=32,
           num_key_value_heads=None, tie_word_embeddings=False, qk_layernorm=False, **LABELS)


def phi(given, _):
    c = Config(given, PHI)
    t = Checkpoint()
    hidden, heads = c["hidden_size"], c["num_attention_heads"]
    dim = hidden // heads
    kv = c.get("num_key_value_heads", heads) * dim
    t.add("model.embed_tokens.weight", c["vocab_size"], hidden)
    for layer in range(c["num_hidden_layers"]):
        p = f"model.layers.{layer}."
        t.linear(p + "q_proj", hidden, heads * dim, True)
        t.linear(p + "k_proj", hidden, kv, True)
        t.linear(p + "v_proj", hidden, kv, True)
        t.linear(p + "dense", heads * dim, hidden, True)
        if c["qk_layernorm"]:
            t.norm(p + "q_layernorm", dim, True)
            t.norm(p + "k_layernorm", dim, True)
        t.norm(p + "input_layernorm", hidden, True)
        t.linear(p + "fc1", hidden, c["intermediate_size"], True)
        t.linear(p + "fc2", c["intermediate_size"], hidden, True)
    t.norm("model.final_layernorm", hidden, True)
    decoder_head(t, c, ending(c, "Phi"), hidden, c["vocab_size"], c["tie_word_embeddings"], bias=True)
    return t


OPT = dict(vocab_size=50272, hidden_size=768, num_hidden_layers=12, ffn_dim=3072, max_position_embeddings=2048,
           do_layer_norm_before=True, _remove_final_layer_norm=False, word_embed_proj_dim=None, num_attention_heads=12,
           enable_bias=True, layer_norm_elementwise_affine=True, tie_word_embeddings=True, **LABELS)


def opt(given, _):
    c = Config(given, OPT)
    t = Checkpoint()
    hidden, bias = c["hidden_size"], c["enable_bias"]
    width = c.get("word_embed_proj_dim", hidden)

    def norm(name):
        if c["layer_norm_elementwise_affine"]:
            t.norm(name, hidden, True)

    t.add("decoder.embed_tokens.weight", c["vocab_size"], width)
    t.add("decoder.embed_positions.weight", c["max_position_embeddings"] + 2, hidden)
    if width != hidden:
        t.linear("decoder.project_out", hidden, width, False)
        t.linear("decoder.project_in", width, hidden, False)
    for layer in range(c["num_hidden_layers"]):
        p = f"decoder.layers.{layer}."
        for name in ("k_proj", "v_proj", "q_proj", "out_proj"):
            t.linear(p + "self_attn." + name, hidden, hidden, bias)
        norm(p + "self_attn_layer_norm")
        t.linear(p + "fc1", hidden, c["ffn_dim"], bias)
        t.linear(p + "fc2", c["ffn_dim"], hidden, bias)
        norm(p + "final_layer_norm")
    if c["do_layer_norm_before"] and not c["_remove_final_layer_norm"]:
        norm("decoder.final_layer_norm")
    kind = ending(c, "OPT")
    if kind == "ForQuestionAnswering":
        t.linear("qa_outputs", width, 2, True)
    else:
        decoder_head(t, c, kind, width, c["vocab_size"], c["tie_word_embeddings"])
    return t


BLOOM = dict(vocab_size=250880, hidden_size=64, n_layer=2, n_head=8, tie_word_embeddings=True, **LABELS)


def bloom(given, _):
    c = Config(given, BLOOM, {"num_hidden_layers": "n_layer", "num_attention_heads": "n_head", "n_embed": "hidden_size"})
    t = Checkpoint()
    hidden = c["hidden_size"]
    t.add("word_embeddings.weight", c["vocab_size"], hidden)
    t.norm("word_embeddings_layernorm", hidden, True)
    for layer in range(c["n_layer"]):
        p = f"h.{layer}."
        t.norm(p + "input_layernorm", hidden, True)
        t.linear(p + "self_attention.query_key_value", hidden, 3 * hidden, True)
        t.linear(p + "self_attention.dense", hidden, hidden, True)
        t.norm(p + "post_attention_layernorm", hidden, True)
        t.linear(p + "mlp.dense_h_to_4h", hidden, 4 * hidden, True)
        t.linear(p + "mlp.dense_4h_to_h", 4 * hidden, hidden, True)
    t.norm("ln_f", hidden, True)
    decoder_head(t, c, ending(c, "Bloom"), hidden, c["vocab_size"], c["tie_word_embeddings"])
    return t


FALCON = dict(vocab_size=65024, hidden_size=4544, num_hidden_layers=32, num_attention_heads=71, num_kv_heads=None,
              num_ln_in_parallel_attn=None, new_decoder_architecture=False, multi_query=True, parallel_attn=True,
              bias=False, ffn_hidden_size=None, tie_word_embeddings=True, **LABELS)


def falcon(given, _):
    c = Config(given, FALCON, {"n_layer": "num_hidden_layers", "n_head": "num_attention_heads",
                               "n_head_kv": "num_kv_heads", "n_embed": "hidden_size"})
    t = Checkpoint()
    hidden, heads, bias = c["hidden_size"], c["num_attention_heads"], c["bias"]
    dim, inner = hidden // heads, c.get("ffn_hidden_size", 4 * hidden)
    new, single = c["new_decoder_architecture"], c["multi_query"]
    fused = (2 * c.get("num_kv_heads", heads) + heads) * dim if new else hidden + 2 * dim if single else 3 * hidden
    t.add("word_embeddings.weight", c["vocab_size"], hidden)
    two = not c["parallel_attn"] or c.get("num_ln_in_parallel_attn", 2 if new else 1) == 2
    for layer in range(c["num_hidden_layers"]):
        p = f"h.{layer}."
        t.linear(p + "self_attention.query_key_value", hidden, fused, bias)
        t.linear(p + "self_attention.dense", hidden, hidden, bias)
        t.linear(p + "mlp.dense_h_to_4h", hidden, inner, bias)
        t.linear(p + "mlp.dense_4h_to_h", inner, hidden, bias)
        t.norm(p + "input_layernorm", hidden, True)
        if two:
            t.norm(p + "second_layernorm", hidden, True)
    t.norm("ln_f", hidden, True)
    decoder_head(t, c, ending(c, "Falcon"), hidden, c["vocab_size"], c["tie_word_embeddings"])
    return t


MPT = dict(d_model=2048, n_heads=16, n_layers=24, vocab_size=50368, tie_word_embeddings=True, **LABELS)


def mpt(given, _):
    c = Config(given, MPT, {"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"})
    t = Checkpoint()
    hidden = c["d_model"]
    t.add("transformer.wte.weight", c["vocab_size"], hidden)
    for layer in range(c["n_layers"]):
        p = f"transformer.blocks.{layer}."
        t.norm(p + "norm_1", hidden)
        t.linear(p + "attn.Wqkv", hidden, 3 * hidden, False)
        t.linear(p + "attn.out_proj", hidden, hidden, False)
        t.norm(p + "norm_2", hidden)
        t.linear(p + "ffn.up_proj", hidden, 4 * hidden, False)
        t.linear(p + "ffn.down_proj", 4 * hidden, hidden, False)
    t.norm("transformer.norm_f", hidden)
    decoder_head(t, c, ending(c, "Mpt"), hidden, c["vocab_size"], c["tie_word_embeddings"])
    return t


def dbrx(given, _):
    c = Config(given, dict(d_model=2048, n_heads=16, n_layers=24, vocab_size=32000, **LABELS),
               {"num_attention_heads": "n_heads", "hidden_size": "d_model", "num_hidden_layers": "n_layers"})
    a = Config(given.get("attn_config") or {}, dict(kv_n_heads=1))
    f = Config(given.get("ffn_config") or {}, dict(ffn_hidden_size=3584, moe_num_experts=4))
    t = Checkpoint()
    hidden, heads, count = c["d_model"], c["n_heads"], f["moe_num_experts"]
    dim = hidden // heads
    t.add("transformer.wte.weight", c["vocab_size"], hidden)
    for layer in range(c["n_layers"]):
        p = f"transformer.blocks.{layer}."
        t.norm(p + "norm_attn_norm.norm_1", hidden)
        t.norm(p + "norm_attn_norm.norm_2", hidden)
        t.linear(p + "norm_attn_norm.attn.Wqkv", hidden, hidden + 2 * a["kv_n_heads"] * dim, False)
        t.linear(p + "norm_attn_norm.attn.out_proj", hidden, hidden, False)
        t.linear(p + "ffn.router.layer", hidden, count, False)
        for name in ("w1", "v1", "w2"):
            t.add(p + "ffn.experts.mlp." + name, count * f["ffn_hidden_size"], hidden)
    t.norm("transformer.norm_f", hidden)
    decoder_head(t, c, ending(c, "Dbrx"), hidden, c["vocab_size"], False)
    return t


BERT = dict(vocab_size=30522, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072,
            max_position_embeddings=512, type_vocab_size=2, tie_word_embeddings=True, **LABELS)
POOLED = ("Model", "ForPreTraining", "ForSequenceClassification", "ForNextSentencePrediction", "ForMultipleChoice")


def bert(given, model_type):
    roberta = model_type == "roberta"
    c = Config(given, dict(BERT, vocab_size=50265) if roberta else BERT)
    t = Checkpoint()
    hidden, inner = c["hidden_size"], c["intermediate_size"]
    kind = c.get("architectures", ["RobertaForMaskedLM" if roberta else "BertForMaskedLM"])[0]
    kind = kind[len("Roberta" if roberta else "Bert"):]
    for name, rows in (("word", "vocab_size"), ("position", "max_position_embeddings"), ("token_type", "type_vocab_size")):
        t.add(f"embeddings.{name}_embeddings.weight", c[rows], hidden)
    t.norm("embeddings.LayerNorm", hidden, True)
    for layer in range(c["num_hidden_layers"]):
        p = f"encoder.layer.{layer}."
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            t.linear(p + "attention." + name, hidden, hidden, True)
        t.norm(p + "attention.output.LayerNorm", hidden, True)
        t.linear(p + "intermediate.dense", hidden, inner, True)
        t.linear(p + "output.dense", inner, hidden, True)
        t.norm(p + "output.LayerNorm", hidden, True)
    if kind in POOLED:  # of RoBERTa's sequence classifier: its own dense layer of the same shape
        t.linear("pooler.dense", hidden, hidden, True)
    if kind in ("ForMaskedLM", "ForPreTraining", "LMHeadModel", "ForCausalLM"):
        t.linear("cls.transform.dense", hidden, hidden, True)
        t.norm("cls.transform.LayerNorm", hidden, True)
        t.add("cls.bias", c["vocab_size"])
        if not c["tie_word_embeddings"]:
            t.add("cls.decoder.weight", c["vocab_size"], hidden)
    outputs = {"ForPreTraining": 2, "ForNextSentencePrediction": 2, "ForMultipleChoice": 1,
               "ForSequenceClassification": labels(c), "ForTokenClassification": labels(c),
               "ForQuestionAnswering": labels(c)}.get(kind, 0)
    if outputs > 0:
        t.linear("classifier", hidden, outputs, True)
    return t


T5 = dict(vocab_size=32128, d_model=512, d_kv=64, d_ff=2048, num_layers=6, num_decoder_layers=None, num_heads=8,
          relative_attention_num_buckets=32, feed_forward_proj="relu", tie_word_embeddings=True, **LABELS)


def t5_stack(t, c, stack, layers, attentions):
    hidden, inner, width = c["d_model"], c["d_ff"], c["num_heads"] * c["d_kv"]
    t.add(stack + ".relative_attention_bias.weight", c["relative_attention_num_buckets"], c["num_heads"])
    for layer in range(layers):
        for which in attentions:
            p = f"{stack}.block.{layer}.{which}."
            for name in "qkv":
                t.linear(p + name, hidden, width, False)
            t.linear(p + "o", width, hidden, False)
            t.norm(p + "layer_norm", hidden)
        p = f"{stack}.block.{layer}.DenseReluDense."
        for name in ("wi_0", "wi_1") if c["feed_forward_proj"].startswith("gated-") else ("wi",):
            t.linear(p + name, hidden, inner, False)
        t.linear(p + "wo", inner, hidden, False)
        t.norm(p + "layer_norm", hidden)
    t.norm(stack + ".final_layer_norm", hidden)


def t5(given, _):
    c = Config(given, T5, {"hidden_size": "d_model", "num_attention_heads": "num_heads",
                           "num_hidden_layers": "num_layers", "head_dim": "d_kv"})
    t = Checkpoint()
    hidden = c["d_model"]
    kind = c.get("architectures", ["T5ForConditionalGeneration"])[0][len("T5"):]
    t.add("shared.weight", c["vocab_size"], hidden)
    t5_stack(t, c, "encoder", c["num_layers"], ("SelfAttention",))
    if kind not in ("EncoderModel", "ForTokenClassification"):
        t5_stack(t, c, "decoder", c.get("num_decoder_layers", c["num_layers"]), ("SelfAttention", "EncDecAttention"))
    if kind in ("ForConditionalGeneration", "WithLMHeadModel") and not c["tie_word_embeddings"]:
        t.add("lm_head.weight", c["vocab_size"], hidden)
    if kind == "ForSequenceClassification":
        t.linear("classification_head.dense", hidden, hidden, True)
    if kind in ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"):
        t.linear("classifier", hidden, labels(c), True)
    return t


BUILDERS.update({"gpt2": gpt2, "gptj": gptj, "gpt_neox": gpt_neox, "phi": phi, "opt": opt, "bloom": bloom,
                 "falcon": falcon, "mpt": mpt, "dbrx": dbrx, "bert": bert, "roberta": bert, "t5": t5})
