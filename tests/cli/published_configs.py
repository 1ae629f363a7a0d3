"""Sizes in the config.json of published checkpoints, by the id of the file in models/transformers that has the same
shape. Three ways to count must agree: the file's, the import's, and the sum over tensors."""


def sized(model_type, layers, hidden, heads, kv_heads, ffn, vocabulary, **more):
    return {"model_type": model_type, "num_hidden_layers": layers, "hidden_size": hidden,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "intermediate_size": ffn,
            "vocab_size": vocabulary, **more}


def llama(*sizes, **more):
    return sized("llama", *sizes, **more)


def qwen25(*sizes, tied=False):
    return sized("qwen2", *sizes, tie_word_embeddings=tied)


def qwen3(*sizes, tied=False):
    return sized("qwen3", *sizes, head_dim=128, tie_word_embeddings=tied)


def gpt2(layers, hidden, heads):
    return {"model_type": "gpt2", "n_layer": layers, "n_embd": hidden, "n_head": heads, "vocab_size": 50257,
            "n_positions": 1024, "n_ctx": 1024, "architectures": ["GPT2LMHeadModel"]}


def opt(layers, hidden, heads, ffn):
    return {"model_type": "opt", "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "ffn_dim": ffn, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": hidden,
            "do_layer_norm_before": True, "architectures": ["OPTForCausalLM"]}


def t5(layers, hidden, heads, dim, ffn, **more):
    return {"model_type": "t5", "num_layers": layers, "d_model": hidden, "num_heads": heads, "d_kv": dim, "d_ff": ffn,
            "vocab_size": 32128, "n_positions": 512, "architectures": ["T5ForConditionalGeneration"], **more}


def bert(model_type, kind, layers, hidden, heads, **more):
    return {"model_type": model_type, "architectures": [kind], "num_hidden_layers": layers, "hidden_size": hidden,
            "num_attention_heads": heads, "intermediate_size": 4 * hidden, **more}


def neox(layers, hidden, heads, ffn, vocabulary):
    return {"model_type": "gpt_neox", "num_hidden_layers": layers, "hidden_size": hidden, "num_attention_heads": heads,
            "intermediate_size": ffn, "vocab_size": vocabulary, "architectures": ["GPTNeoXForCausalLM"]}


def bloom(layers, hidden, heads):
    return {"model_type": "bloom", "n_layer": layers, "n_embed": hidden, "num_attention_heads": heads,
            "vocab_size": 250880}


def g3(**text):
    return {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
            "text_config": dict(sliding_window=1024, **text),
            "vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
                              "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14,
                              "vision_use_head": False}}


def flan(layers, hidden, heads, ffn):
    return t5(layers, hidden, heads, 64, ffn, feed_forward_proj="gated-gelu", tie_word_embeddings=False)


ROBERTA = dict(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)
LATENT = dict(kv_lora_rank=512, qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)

PUBLISHED = {
    "bert-base": bert("bert", "BertModel", 12, 768, 12),
    "bert-large": bert("bert", "BertModel", 24, 1024, 16),
    "bert-large-mlm": bert("bert", "BertForMaskedLM", 24, 1024, 16),
    "roberta-base": bert("roberta", "RobertaModel", 12, 768, 12, **ROBERTA),
    "roberta-large": bert("roberta", "RobertaModel", 24, 1024, 16, **ROBERTA),
    "bloom-176b": dict(model_type="bloom", n_layer=70, n_embed=14336, num_attention_heads=112, vocab_size=250880),
    "bloom-7b1": dict(model_type="bloom", n_layer=30, n_embed=4096, num_attention_heads=32, vocab_size=250880,
                      architectures=["BloomForCausalLM"]),
    "dbrx": dict(model_type="dbrx", n_layers=40, d_model=6144, n_heads=48, vocab_size=100352, max_seq_len=32768,
                 attn_config={"clip_qkv": 8, "kv_n_heads": 8},
                 ffn_config={"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}),
    "deepseek-v2-lite": sized("deepseek_v2", 27, 2048, 16, 16, 10944, 102400, n_routed_experts=64, n_shared_experts=2,
                              num_experts_per_tok=6, moe_intermediate_size=1408, first_k_dense_replace=1,
                              moe_layer_freq=1, q_lora_rank=None, **LATENT),
    "deepseek-v2": sized("deepseek_v2", 60, 5120, 128, 128, 12288, 102400, n_routed_experts=160, n_shared_experts=2,
                         num_experts_per_tok=6, moe_intermediate_size=1536, first_k_dense_replace=1, moe_layer_freq=1,
                         q_lora_rank=1536, **LATENT),
    "deepseek-v3": sized("deepseek_v3", 61, 7168, 128, 128, 18432, 129280, n_routed_experts=256, n_shared_experts=1,
                         num_experts_per_tok=8, moe_intermediate_size=2048, first_k_dense_replace=3, moe_layer_freq=1,
                         q_lora_rank=1536, num_nextn_predict_layers=1, **LATENT),
    "falcon-7b": dict(model_type="falcon", num_hidden_layers=32, hidden_size=4544, num_attention_heads=71,
                      num_kv_heads=71, multi_query=True, new_decoder_architecture=False, parallel_attn=True, bias=False,
                      vocab_size=65024),
    "falcon-40b": dict(model_type="falcon", num_hidden_layers=60, hidden_size=8192, num_attention_heads=128,
                       num_kv_heads=8, multi_query=True, new_decoder_architecture=True, parallel_attn=True, bias=False,
                       vocab_size=65024),
    "falcon-180b": dict(model_type="falcon", tie_word_embeddings=False, num_hidden_layers=80, hidden_size=14848, num_attention_heads=232,
                        num_kv_heads=8, multi_query=True, new_decoder_architecture=True, parallel_attn=True,
                        bias=False, vocab_size=65024),
    "gemma-2b": sized("gemma", 18, 2048, 8, 1, 16384, 256000, head_dim=256),
    "gemma-7b": sized("gemma", 28, 3072, 16, 16, 24576, 256000, head_dim=256),
    "gemma-2-2b": sized("gemma2", 26, 2304, 8, 4, 9216, 256000, head_dim=256, sliding_window=4096),
    "gemma-2-9b": sized("gemma2", 42, 3584, 16, 8, 14336, 256000, head_dim=256, sliding_window=4096),
    "gemma-2-27b": sized("gemma2", 46, 4608, 32, 16, 36864, 256000, head_dim=128, sliding_window=4096),
    "gemma-3-1b": sized("gemma3_text", 26, 1152, 4, 1, 6912, 262144, head_dim=256, sliding_window=512),
    "gpt-2-small": gpt2(12, 768, 12), "gpt-2-medium": gpt2(24, 1024, 16), "gpt-2-large": gpt2(36, 1280, 20),
    "gpt-2-xl": gpt2(48, 1600, 25),
    "gpt-j-6b": dict(model_type="gptj", n_layer=28, n_embd=4096, n_head=16, vocab_size=50400, n_inner=None,
                     tie_word_embeddings=False),
    "gpt-neox-20b": dict(model_type="gpt_neox", num_hidden_layers=44, hidden_size=6144, num_attention_heads=64,
                         intermediate_size=24576, vocab_size=50432),
    "gpt-oss-20b": sized("gpt_oss", 24, 2880, 64, 8, 2880, 201088, head_dim=64, num_local_experts=32),
    "gpt-oss-120b": sized("gpt_oss", 36, 2880, 64, 8, 2880, 201088, head_dim=64, num_local_experts=128),
    "granite-3.0-8b": sized("granite", 40, 4096, 32, 8, 12800, 49155, tie_word_embeddings=True),
    "llama-2-7b": llama(32, 4096, 32, 32, 11008, 32000), "llama-2-13b": llama(40, 5120, 40, 40, 13824, 32000),
    "llama-2-70b": llama(80, 8192, 64, 8, 28672, 32000), "llama-65b": llama(80, 8192, 64, 64, 22016, 32000),
    "llama-3-8b": llama(32, 4096, 32, 8, 14336, 128256), "llama-3-70b": llama(80, 8192, 64, 8, 28672, 128256),
    "llama-3-405b": llama(126, 16384, 128, 8, 53248, 128256),
    "llama-3.2-1b": llama(16, 2048, 32, 8, 8192, 128256, head_dim=64, tie_word_embeddings=True),
    "llama-3.2-3b": llama(28, 3072, 24, 8, 8192, 128256, head_dim=128, tie_word_embeddings=True),
    "tinyllama-1.1b": llama(22, 2048, 32, 4, 5632, 32000), "yi-34b": llama(60, 7168, 56, 8, 20480, 64000),
    "mistral-7b": sized("mistral", 32, 4096, 32, 8, 14336, 32000, sliding_window=4096),
    "mistral-nemo-12b": sized("mistral", 40, 5120, 32, 8, 14336, 131072, head_dim=128, sliding_window=None),
    "mixtral-8x7b": sized("mixtral", 32, 4096, 32, 8, 14336, 32000, num_local_experts=8, num_experts_per_tok=2),
    "mixtral-8x22b": sized("mixtral", 56, 6144, 48, 8, 16384, 32000, num_local_experts=8, num_experts_per_tok=2),
    "mpt-7b": dict(model_type="mpt", n_layers=32, d_model=4096, n_heads=32, vocab_size=50432, expansion_ratio=4,
                   no_bias=True, architectures=["MPTForCausalLM"]),
    "olmo-7b": sized("olmo", 32, 4096, 32, 32, 11008, 50304),
    "olmo-2-7b": sized("olmo2", 32, 4096, 32, 32, 11008, 100352),
    "olmo-2-13b": sized("olmo2", 40, 5120, 40, 40, 13824, 100352),
    "opt-125m": opt(12, 768, 12, 3072), "opt-1.3b": opt(24, 2048, 32, 8192), "opt-6.7b": opt(32, 4096, 32, 16384),
    "opt-13b": opt(40, 5120, 40, 20480), "opt-30b": opt(48, 7168, 56, 28672),
    "phi-2": sized("phi", 32, 2560, 32, 32, 10240, 51200, partial_rotary_factor=0.4),
    "phi-3-mini": sized("phi3", 32, 3072, 32, 32, 8192, 32064, sliding_window=2047),
    "phi-3-medium": sized("phi3", 40, 5120, 40, 10, 17920, 32064),
    "phi-4": sized("phi3", 40, 5120, 40, 10, 17920, 100352),
    "qwen-1.5-moe-a2.7b": sized("qwen2_moe", 24, 2048, 16, 16, 5632, 151936, num_experts=60, num_experts_per_tok=4,
                                moe_intermediate_size=1408, shared_expert_intermediate_size=5632),
    "qwen-2.5-0.5b": qwen25(24, 896, 14, 2, 4864, 151936, tied=True),
    "qwen-2.5-1.5b": qwen25(28, 1536, 12, 2, 8960, 151936, tied=True),
    "qwen-2.5-3b": qwen25(36, 2048, 16, 2, 11008, 151936, tied=True),
    "qwen-2.5-7b": qwen25(28, 3584, 28, 4, 18944, 152064), "qwen-2.5-14b": qwen25(48, 5120, 40, 8, 13824, 152064),
    "qwen-2.5-32b": qwen25(64, 5120, 40, 8, 27648, 152064), "qwen-2.5-72b": qwen25(80, 8192, 64, 8, 29568, 152064),
    "qwen-3-0.6b": qwen3(28, 1024, 16, 8, 3072, 151936, tied=True),
    "qwen-3-1.7b": qwen3(28, 2048, 16, 8, 6144, 151936, tied=True),
    "qwen-3-4b": qwen3(36, 2560, 32, 8, 9728, 151936, tied=True), "qwen-3-8b": qwen3(36, 4096, 32, 8, 12288, 151936),
    "qwen-3-14b": qwen3(40, 5120, 40, 8, 17408, 151936), "qwen-3-32b": qwen3(64, 5120, 64, 8, 25600, 151936),
    "qwen-3-30b-a3b": sized("qwen3_moe", 48, 2048, 32, 4, 6144, 151936, head_dim=128, num_experts=128,
                            num_experts_per_tok=8, moe_intermediate_size=768),
    "qwen-3-235b-a22b": sized("qwen3_moe", 94, 4096, 64, 4, 12288, 151936, head_dim=128, num_experts=128,
                              num_experts_per_tok=8, moe_intermediate_size=1536),
    "t5-small": t5(6, 512, 8, 64, 2048), "t5-base": t5(12, 768, 12, 64, 3072), "t5-large": t5(24, 1024, 16, 64, 4096),
    "t5-3b": t5(24, 1024, 32, 128, 16384), "t5-11b": t5(24, 1024, 128, 128, 65536),
}

PUBLISHED.update({
    "llama-33b": llama(60, 6656, 52, 52, 17920, 32000),
    "codestral-22b": sized("mistral", 56, 6144, 48, 8, 16384, 32768, sliding_window=None),
    "mistral-small-24b": sized("mistral", 40, 5120, 32, 8, 32768, 131072, head_dim=128, sliding_window=None),
    "mistral-large-2": sized("mistral", 88, 12288, 96, 8, 28672, 32768, head_dim=128, sliding_window=None),
    "qwen-2-57b-a14b": sized("qwen2_moe", 28, 3584, 28, 4, 18944, 151936, num_experts=64, num_experts_per_tok=8,
        moe_intermediate_size=2560, shared_expert_intermediate_size=20480),
    "gemma-3-4b": g3(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34),
    "gemma-3-12b": g3(hidden_size=3840, intermediate_size=15360, num_hidden_layers=48, num_attention_heads=16,
        num_key_value_heads=8),
    "gemma-3-27b": g3(hidden_size=5376, intermediate_size=21504, num_hidden_layers=62, head_dim=128,
        num_attention_heads=32, num_key_value_heads=16),
    "olmo-1b": sized("olmo", 16, 2048, 16, 16, 8192, 50304, tie_word_embeddings=True),
    "olmo-2-32b": sized("olmo2", 64, 5120, 40, 8, 27648, 100352),
    "granite-3.0-2b": sized("granite", 40, 2048, 32, 8, 8192, 49155, tie_word_embeddings=True),
    "granite-3.0-1b-a400m": sized("granitemoe", 24, 1024, 16, 8, 512, 49155, num_local_experts=32,
        num_experts_per_tok=8, tie_word_embeddings=True),
    "granite-3.0-3b-a800m": sized("granitemoe", 32, 1536, 24, 8, 512, 49155, num_local_experts=40,
        num_experts_per_tok=8, tie_word_embeddings=True),
    "phi-1.5": sized("phi", 24, 2048, 32, 32, 8192, 51200),
    "kimi-k2": sized("deepseek_v3", 61, 7168, 64, 64, 18432, 163840, n_routed_experts=384, n_shared_experts=1,
        num_experts_per_tok=8, moe_intermediate_size=2048, first_k_dense_replace=1, q_lora_rank=1536, **LATENT),
    "opt-350m": dict(opt(24, 1024, 16, 4096), word_embed_proj_dim=512, do_layer_norm_before=False),
    "opt-2.7b": opt(32, 2560, 32, 10240),
    "opt-66b": opt(64, 9216, 72, 36864),
    "pythia-160m": neox(12, 768, 12, 3072, 50304),
    "pythia-410m": neox(24, 1024, 16, 4096, 50304),
    "pythia-1.4b": neox(24, 2048, 16, 8192, 50304),
    "pythia-2.8b": neox(32, 2560, 32, 10240, 50304),
    "pythia-6.9b": neox(32, 4096, 32, 16384, 50432),
    "pythia-12b": neox(36, 5120, 40, 20480, 50688),
    "bloom-560m": bloom(24, 1024, 16),
    "bloom-1b7": bloom(24, 2048, 16),
    "bloom-3b": bloom(30, 2560, 32),
    "mpt-30b": dict(model_type="mpt", n_layers=48, d_model=7168, n_heads=64, vocab_size=50432, max_seq_len=8192),
    "flan-t5-small": flan(8, 512, 6, 1024),
    "flan-t5-base": flan(12, 768, 12, 2048),
    "flan-t5-large": flan(24, 1024, 16, 2816),
    "flan-t5-xl": flan(24, 2048, 32, 5120),
    "flan-t5-xxl": flan(24, 4096, 64, 10240),
})
