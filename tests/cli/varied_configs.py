"""Configurations of every supported model type, drawn at random with a fixed seed: keys present and absent, null,
other names, heads of all kinds."""

import random

from checkpoint_tensors import LIKE_LLAMA

HEADS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "Model")


class Draw:
    """Adds a key now and then."""

    def __init__(self, seed, model_type):
        self.random = random.Random(f"{model_type} {seed}")
        self.config = {"model_type": model_type}

    def often(self, share=0.5):
        return self.random.random() < share

    def maybe(self, key, *choices, share=0.5):
        if self.often(share):
            self.config[key] = self.random.choice(choices)

    def one(self, key, *choices):
        self.config[key] = self.random.choice(choices)

    def classes(self, prefix, usual, heads=HEADS):
        if self.often(0.7):
            self.config["architectures"] = [prefix + self.random.choice((usual, usual) + tuple(heads))]
        if self.often(0.3):
            self.config["num_labels"] = self.random.randint(1, 9)
        elif self.often(0.3):
            self.config["id2label"] = {str(i): f"LABEL_{i}" for i in range(self.random.randint(1, 5))}

    def sizes(self, hidden, heads, kv, layers, dims=(32, 48, 64, 80)):
        """All or none of them, so that they divide."""
        if self.often(0.8):
            self.config[heads] = self.random.choice((4, 6, 8, 12))
            self.config[hidden] = self.config[heads] * self.random.choice(dims)
            if kv:
                self.config[kv] = self.random.choice([n for n in (1, 2, 4, None) if n is None or
                                                      self.config[heads] % n == 0])
        self.maybe(layers, 1, 2, 3, 5, 8)


def like_llama(d, model_type, body=None):
    prefix, differs, marks = LIKE_LLAMA[model_type]
    if body is None:
        d.classes(prefix, "ForCausalLM")
    d.sizes("hidden_size", "num_attention_heads", "num_key_value_heads", "num_hidden_layers")
    if "head_dim" not in differs:
        d.maybe("head_dim", None, 64, share=0.2)
    else:
        d.maybe("head_dim", 32, 64, 128)
    d.maybe("vocab_size", 1000, 32001, 50257)
    d.maybe("intermediate_size", 256, 1000, 4096)
    d.maybe("tie_word_embeddings", True, False)
    d.maybe("rope_theta", 10000.0, 500000.0)
    if model_type in ("llama", "granite", "gemma", "gemma2", "gemma3_text", "qwen3", "qwen3_moe", "olmo", "olmo2",
                      "granitemoe", "gpt_oss"):
        d.maybe("attention_bias", True, False, share=0.3)
    if model_type in ("llama", "granite"):
        d.maybe("mlp_bias", True, False, share=0.3)
    if model_type in ("mistral", "mixtral", "phi3"):
        d.maybe("sliding_window", None, 512, 4096)
    if "experts" in marks:
        like_llama_experts(d, marks)
    if model_type in ("qwen2", "qwen3"):
        d.maybe("use_sliding_window", True, False, share=0.3)
        d.maybe("max_window_layers", 1, 28)
    if model_type == "gemma3_text":
        d.maybe("sliding_window_pattern", 2, 6)


def like_llama_experts(d, marks):
    d.one(marks["experts"], 2, 4, 8)
    d.one("num_experts_per_tok", 1, 2)
    if marks["experts"] != "num_experts":
        return
    d.maybe("moe_intermediate_size", 96, 128)
    if "shared" in marks:
        d.maybe("shared_expert_intermediate_size", 96, 512)
        d.maybe("qkv_bias", True, False, share=0.2)
    d.config["num_hidden_layers"] = d.random.choice((4, 6, 7))
    d.maybe("decoder_sparse_step", 1, 2, 3)
    d.maybe("mlp_only_layers", [], [0], [3, 1], [99], share=0.4)


def deepseek(d, model_type):
    d.classes("DeepseekV2" if model_type == "deepseek_v2" else "DeepseekV3", "ForCausalLM",
              ("ForSequenceClassification", "Model"))
    d.sizes("hidden_size", "num_attention_heads", None, "num_hidden_layers")
    d.config["num_hidden_layers"] = d.random.choice((2, 4, 5))
    d.one("num_experts_per_tok", 2, 4)
    d.one("n_routed_experts", 4, 8)
    d.maybe("n_shared_experts", 1, 2, None, 0)
    d.maybe("q_lora_rank", None, 96, 1536)
    d.maybe("kv_lora_rank", 64, 512)
    d.maybe("qk_nope_head_dim", 32, 128)
    d.maybe("qk_rope_head_dim", 16, 64)
    d.maybe("v_head_dim", 24, 128)
    d.maybe("moe_intermediate_size", 64, 2048)
    d.maybe("intermediate_size", 256, 1000)
    d.maybe("first_k_dense_replace", 0, 1, 3, 9)
    d.maybe("attention_bias", True, False, share=0.3)
    d.maybe("num_nextn_predict_layers", 1)
    d.maybe("vocab_size", 999, 5000)
    d.maybe("tie_word_embeddings", True, False, share=0.3)


def gemma3(d, _):
    text = Draw(d.random.random(), "gemma3_text")
    like_llama(text, "gemma3_text", body="text")
    d.config["text_config"] = text.config
    vision = Draw(d.random.random(), "siglip_vision_model")
    vision.sizes("hidden_size", "num_attention_heads", None, "num_hidden_layers")
    vision.maybe("intermediate_size", 100, 4304)
    vision.maybe("image_size", 224, 896)
    vision.maybe("patch_size", 14, 16)
    vision.maybe("vision_use_head", True, False)
    if d.often(0.8):
        d.config["vision_config"] = vision.config
    d.maybe("architectures", ["Gemma3ForConditionalGeneration"])


def gpt2(d, model_type):
    two = model_type == "gpt2"
    d.classes("GPT2" if two else "GPTJ", "LMHeadModel" if two else "ForCausalLM",
              HEADS + (("DoubleHeadsModel",) if two else ()))
    if d.often(0.7):
        d.sizes("n_embd", "n_head", None, "n_layer")
    else:
        d.sizes("hidden_size", "num_attention_heads", None, "num_hidden_layers")
    if d.config.get("architectures") == ["GPTJForTokenClassification"]:
        del d.config["architectures"]
    d.maybe("n_inner", None, 100, 999)
    d.maybe("n_positions", 64, 2048)
    d.maybe("vocab_size", 777, 50257)
    d.maybe("tie_word_embeddings", True, False, share=0.3)


def gpt_neox(d, _):
    d.classes("GPTNeoX", "ForCausalLM")
    d.sizes("hidden_size", "num_attention_heads", None, "num_hidden_layers")
    d.maybe("intermediate_size", 256, 1000)
    d.maybe("use_parallel_residual", True, False)
    d.maybe("attention_bias", True, False)
    d.maybe("tie_word_embeddings", True, False)
    d.maybe("vocab_size", 777, 50257)


def phi(d, _):
    d.classes("Phi", "ForCausalLM", ("ForSequenceClassification", "ForTokenClassification", "Model"))
    d.sizes("hidden_size", "num_attention_heads", "num_key_value_heads", "num_hidden_layers")
    d.maybe("intermediate_size", 256, 1000)
    d.maybe("qk_layernorm", True, False)
    d.maybe("partial_rotary_factor", 0.4)
    d.maybe("tie_word_embeddings", True, False, share=0.3)
    d.maybe("vocab_size", 777, 51200)


def opt(d, _):
    d.classes("OPT", "ForCausalLM", ("ForSequenceClassification", "ForQuestionAnswering", "Model"))
    d.sizes("hidden_size", "num_attention_heads", None, "num_hidden_layers")
    d.maybe("ffn_dim", 256, 1000)
    d.maybe("max_position_embeddings", 100, 2048)
    d.maybe("word_embed_proj_dim", None, 96, 128, share=0.4)
    for key in ("do_layer_norm_before", "_remove_final_layer_norm", "enable_bias", "layer_norm_elementwise_affine",
                "tie_word_embeddings"):
        d.maybe(key, True, False, share=0.3)
    d.maybe("vocab_size", 777, 50272)


def bloom(d, _):
    d.classes("Bloom", "ForCausalLM")
    names = d.random.choice((("hidden_size", "n_head", "n_layer"), ("n_embed", "n_head", "n_layer"),
                             ("hidden_size", "num_attention_heads", "num_hidden_layers")))
    d.sizes(names[0], names[1], None, names[2])
    d.maybe("vocab_size", 777, 250880)
    d.maybe("tie_word_embeddings", True, False, share=0.3)


def falcon(d, _):
    d.classes("Falcon", "ForCausalLM")
    old = d.often(0.3)
    d.sizes("hidden_size", "n_head" if old else "num_attention_heads", "n_head_kv" if old else "num_kv_heads",
            "n_layer" if old else "num_hidden_layers")
    for key in ("new_decoder_architecture", "multi_query", "parallel_attn", "bias", "alibi", "tie_word_embeddings"):
        d.maybe(key, True, False, share=0.4)
    d.maybe("num_ln_in_parallel_attn", 1, 2, None, share=0.4)
    d.maybe("ffn_hidden_size", 100, 999, share=0.3)
    d.maybe("vocab_size", 777, 65024)


def mpt(d, _):
    d.classes("Mpt", "ForCausalLM")
    d.sizes("d_model", "n_heads", None, "n_layers")
    d.maybe("vocab_size", 777, 50432)
    d.maybe("attn_config", {"alibi": True, "clip_qkv": 6})
    d.maybe("no_bias", True)
    d.maybe("max_seq_len", 4096)


def dbrx(d, _):
    d.sizes("d_model", "n_heads", None, "n_layers")
    d.maybe("attn_config", {"kv_n_heads": 2}, {"kv_n_heads": 4}, {"clip_qkv": 8})
    d.maybe("ffn_config", {"ffn_hidden_size": 100, "moe_num_experts": 8, "moe_top_k": 2}, {"moe_num_experts": 2},
            {"ffn_act_fn": {"name": "silu"}})
    d.maybe("vocab_size", 777, 100352)


def bert(d, model_type):
    roberta = model_type == "roberta"
    kinds = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice", "Model")
    extra = ("ForCausalLM",) if roberta else ("ForPreTraining", "ForNextSentencePrediction", "LMHeadModel")
    d.classes("Roberta" if roberta else "Bert", "ForMaskedLM", kinds + extra)
    d.sizes("hidden_size", "num_attention_heads", None, "num_hidden_layers")
    d.maybe("intermediate_size", 256, 1000)
    d.maybe("max_position_embeddings", 512, 514, 130)
    d.maybe("type_vocab_size", 1, 2, 16)
    d.maybe("vocab_size", 777, 28996)
    d.maybe("tie_word_embeddings", True, False, share=0.2)


def t5(d, _):
    d.classes("T5", "ForConditionalGeneration",
              ("Model", "EncoderModel", "WithLMHeadModel", "ForSequenceClassification", "ForTokenClassification",
               "ForQuestionAnswering"))
    d.sizes("d_model", "num_heads", None, "num_layers")
    d.maybe("d_kv", 32, 64, 128)
    d.maybe("d_ff", 100, 2816)
    d.maybe("num_decoder_layers", 1, 4, None)
    d.maybe("relative_attention_num_buckets", 16, 32)
    d.maybe("feed_forward_proj", "relu", "gated-gelu", "gated-silu", "gelu")
    d.maybe("tie_word_embeddings", True, False)
    d.maybe("vocab_size", 777, 32128)


DRAWS = {**{name: like_llama for name in LIKE_LLAMA}, "deepseek_v2": deepseek, "deepseek_v3": deepseek,
         "gemma3": gemma3, "gpt2": gpt2, "gptj": gpt2, "gpt_neox": gpt_neox, "phi": phi, "opt": opt, "bloom": bloom,
         "falcon": falcon, "mpt": mpt, "dbrx": dbrx, "bert": bert, "roberta": bert, "t5": t5}


def varied(each):
    """Of each type its bare model_type, then drawn ones."""
    for model_type, draw in sorted(DRAWS.items()):
        if model_type != "deepseek_v2":  # its class has no top-k of its own
            yield {"model_type": model_type}
        for seed in range(each):
            one = Draw(seed, model_type)
            draw(one, model_type)
            yield one.config
