#include "foreign/huggingface_families.hpp"

namespace clustersim {
namespace {

void activation(JsonConfig& c, ModelKeys& m, const char* key, const char* usual) {
  const std::string name = c.text(key, usual);
  if (name == "silu" || name == "swish") {
    m.set("activation", "silu");
  } else if (name == "relu") {
    m.set("activation", "relu");
  } else if (name.starts_with("gelu")) {
    m.set("activation", "gelu");
  } else {
    c.refuse("the activation of '" + std::string{key} + "' is none of silu, gelu and relu");
  }
}

/// Sizes under the names that Llama gave them and nearly all later types use.
void sizes(JsonConfig& c, ModelKeys& m, bool head_dim = true) {
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", c.count("hidden_size"));
  const std::int64_t heads = c.count("num_attention_heads");
  m.set("heads", heads);
  m.set("kv_heads", c.count("num_key_value_heads", heads));
  if (head_dim && c.has("head_dim")) {
    m.set("head_dim", c.count("head_dim"));
  }
  m.set("vocabulary", c.count("vocab_size"));
  m.set("sequence_default", c.count("max_position_embeddings", 2048));
}

void rotary_gated(JsonConfig& c, ModelKeys& m, const char* act_key = "hidden_act",
                  const char* act = "silu") {
  activation(c, m, act_key, act);
  m.set("gated_mlp", true);
  m.set("norm", "rms");
  m.set("position", "rotary");
}

void llama(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  const bool bias = c.flag("attention_bias", false);
  m.set("attention_bias", bias);
  m.set("projection_bias", bias);
  m.set("mlp_bias", c.flag("mlp_bias", false));
}

void window(JsonConfig& c, ModelKeys& m) {
  if (c.has("sliding_window")) {
    m.set("window", c.count("sliding_window"));
  }
}

void mistral(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  window(c, m);
}

void mixtral(JsonConfig& c, ModelKeys& m) {
  mistral(c, m);
  m.set("moe.experts", c.count("num_local_experts", 8));
  m.set("moe.top_k", c.count("num_experts_per_tok", 2));
}

/// Windows of Qwen start above a layer; they are off in every published model.
void qwen_common(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  c.only("use_sliding_window", "false", "windows above some layer");
}

void qwen2(JsonConfig& c, ModelKeys& m) {
  qwen_common(c, m);
  m.set("attention_bias", true);
  c.infer("attention_bias = true: the type has biases on q, k and v");
}

void qwen_experts(JsonConfig& c, ModelKeys& m) {
  m.set("moe.experts", c.count("num_experts"));
  m.set("moe.top_k", c.count("num_experts_per_tok"));
  m.set("moe.ffn_hidden", c.count("moe_intermediate_size"));
  m.set("moe.interval", c.count("decoder_sparse_step", 1));
  c.only("mlp_only_layers", "[]", "dense layers by number");
}

void qwen2_moe(JsonConfig& c, ModelKeys& m) {
  qwen2(c, m);
  qwen_experts(c, m);
  m.set("moe.shared_ffn_hidden", c.count("shared_expert_intermediate_size"));
  m.set("moe.shared_gate", true);
}

void qwen3(JsonConfig& c, ModelKeys& m) {
  if (!c.has("head_dim")) {
    m.set("head_dim", std::int64_t{128});
    c.defaulted.emplace_back("head_dim = 128");
  }
  qwen_common(c, m);
  const bool bias = c.flag("attention_bias", false);
  m.set("attention_bias", bias);
  m.set("projection_bias", bias);
  m.set("qk_norm", "head");
  c.infer("qk_norm = head: the type has norms of queries and keys");
}

void qwen3_moe(JsonConfig& c, ModelKeys& m) {
  qwen3(c, m);
  qwen_experts(c, m);
}

void gemma_common(JsonConfig& c, ModelKeys& m, const char* act_key, bool own_head_dim) {
  if (own_head_dim && !c.has("head_dim")) {
    m.set("head_dim", std::int64_t{256});
    c.defaulted.emplace_back("head_dim = 256");
  }
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m, act_key, "gelu_pytorch_tanh");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
  c.only("attention_bias", "false", "biases in attention");
}

void gemma(JsonConfig& c, ModelKeys& m) {
  gemma_common(c, m, "hidden_act", true);
}

void gemma2(JsonConfig& c, ModelKeys& m) {
  gemma_common(c, m, "hidden_activation", true);
  m.set("layer_norms", std::int64_t{4});
  m.set("window", c.count("sliding_window", 4096));
  m.set("full_every", std::int64_t{2});
  c.infer("layer_norms = 4 and full_every = 2: so the type is built");
}

void gemma3(JsonConfig& c, ModelKeys& m) {
  if (c.has("vision_config") || c.has("text_config")) {
    c.refuse("the model has a vision tower, which a transformer file cannot say");
  }
  gemma_common(c, m, "hidden_activation", true);
  m.set("layer_norms", std::int64_t{4});
  m.set("qk_norm", "head");
  m.set("window", c.count("sliding_window", 4096));
  m.set("full_every", c.count("sliding_window_pattern", 6));
  c.infer("layer_norms = 4 and qk_norm = head: so the type is built");
}

void phi3(JsonConfig& c, ModelKeys& m) {
  mistral(c, m);
}

void olmo(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  activation(c, m, "hidden_act", "silu");
  m.set("gated_mlp", true);
  m.set("norm", "layer");
  m.set("norm_weight", false);
  m.set("position", "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  c.only("attention_bias", "false", "biases in attention");
  c.infer("norm_weight = false: norms of the type have no weights");
}

void olmo2(JsonConfig& c, ModelKeys& m) {
  llama(c, m);
  m.set("qk_norm", "width");
  c.infer("qk_norm = width: the type has norms of queries and keys");
}

void granitemoe(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  c.only("attention_bias", "false", "biases in attention");
  m.set("moe.experts", c.count("num_local_experts"));
  m.set("moe.top_k", c.count("num_experts_per_tok"));
}

void gpt_oss(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  m.set_all({"attention_bias", "projection_bias", "mlp_bias", "attention_sinks"}, true);
  c.only("attention_bias", "true", "attention without biases");
  m.set("window", c.count("sliding_window", 128));
  m.set("full_every", std::int64_t{2});
  m.set("moe.experts", c.count("num_local_experts"));
  m.set("moe.top_k", c.count("num_experts_per_tok", 4));
  m.set("moe.router_bias", true);
  c.infer("biases, sinks and full_every = 2: so the type is built");
}

void deepseek(JsonConfig& c, ModelKeys& m) {
  sizes(c, m, false);
  m.set("ffn_hidden", c.count("intermediate_size"));
  rotary_gated(c, m);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  c.only("attention_bias", "false", "biases in attention");
  c.only("moe_layer_freq", "1", "dense layers between those with experts");
  const std::int64_t experts = c.count("n_routed_experts");
  m.set("moe.experts", experts);
  m.set("moe.top_k", c.count("num_experts_per_tok"));
  m.set("moe.ffn_hidden", c.count("moe_intermediate_size"));
  m.set("moe.shared", c.count("n_shared_experts", 0));
  m.set("moe.dense_first", c.count("first_k_dense_replace", 0));
  m.set("mla.kv_rank", c.count("kv_lora_rank"));
  if (c.has("q_lora_rank")) {
    m.set("mla.q_rank", c.count("q_lora_rank"));
  }
  c.use("q_lora_rank");
  m.set("mla.nope_dim", c.count("qk_nope_head_dim"));
  m.set("mla.rope_dim", c.count("qk_rope_head_dim"));
  m.set("mla.value_dim", c.count("v_head_dim"));
}

void gpt_neox(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  activation(c, m, "hidden_act", "gelu");
  m.set("norm", "layer");
  m.set("position", "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  m.set("parallel_block", c.flag("use_parallel_residual", true));
  m.set("layer_norms", std::int64_t{2});
  const bool bias = c.flag("attention_bias", true);
  m.set("attention_bias", bias);
  m.set("projection_bias", bias);
  m.set("mlp_bias", true);
}

void phi(JsonConfig& c, ModelKeys& m) {
  sizes(c, m);
  m.set("ffn_hidden", c.count("intermediate_size"));
  activation(c, m, "hidden_act", "gelu_new");
  m.set("norm", "layer");
  m.set("position", "rotary");
  c.only("tie_word_embeddings", "false", "a tied head with a bias");
  c.only("qk_layernorm", "false", "layer norms of queries and keys");
  m.set_all({"parallel_block", "attention_bias", "projection_bias", "mlp_bias", "head_bias"}, true);
}

void gpt2_sizes(JsonConfig& c, ModelKeys& m) {
  const std::int64_t hidden = c.count("n_embd");
  m.set("layers", c.count("n_layer"));
  m.set("hidden", hidden);
  m.set("heads", c.count("n_head"));
  m.set("vocabulary", c.count("vocab_size"));
  const bool own = c.has("n_inner");
  m.set("ffn_hidden", own ? c.count("n_inner") : 4 * hidden);
  c.use("n_inner");
  const std::int64_t positions = c.count("n_positions", 1024);
  m.set("max_positions", positions);
  m.set("sequence_default", positions);
  activation(c, m, "activation_function", "gelu_new");
  m.set("norm", "layer");
}

void gpt2(JsonConfig& c, ModelKeys& m) {
  gpt2_sizes(c, m);
  m.set("position", "learned");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
  c.only("add_cross_attention", "false", "cross-attention");
  m.set_all({"attention_bias", "projection_bias", "mlp_bias"}, true);
}

void gptj(JsonConfig& c, ModelKeys& m) {
  gpt2_sizes(c, m);
  m.set("position", "rotary");
  c.only("tie_word_embeddings", "false", "a tied head with a bias");
  m.set_all({"parallel_block", "mlp_bias", "head_bias"}, true);
}

void opt(JsonConfig& c, ModelKeys& m) {
  const std::int64_t hidden = c.count("hidden_size");
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", hidden);
  m.set("heads", c.count("num_attention_heads"));
  m.set("ffn_hidden", c.count("ffn_dim"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("embedding_width", c.count("word_embed_proj_dim", hidden));
  const std::int64_t positions = c.count("max_position_embeddings", 2048);
  m.set("max_positions", positions + 2);
  c.infer(
      "max_positions = max_position_embeddings + 2: the table of the type begins two rows early");
  m.set("sequence_default", positions);
  activation(c, m, "activation_function", "relu");
  m.set("norm", "layer");
  m.set("position", "learned");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
  m.set("final_norm", c.flag("do_layer_norm_before", true));
  c.only("enable_bias", "true", "layers without biases");
  c.only("layer_norm_elementwise_affine", "true", "norms without weights");
  m.set_all({"attention_bias", "projection_bias", "mlp_bias"}, true);
}

} // namespace

const std::vector<HuggingFaceFamily>& huggingface_families() {
  static const std::vector<HuggingFaceFamily> table{
      {"llama", "LlamaForCausalLM", llama},
      {"mistral", "MistralForCausalLM", mistral},
      {"mixtral", "MixtralForCausalLM", mixtral},
      {"qwen2", "Qwen2ForCausalLM", qwen2},
      {"qwen2_moe", "Qwen2MoeForCausalLM", qwen2_moe},
      {"qwen3", "Qwen3ForCausalLM", qwen3},
      {"qwen3_moe", "Qwen3MoeForCausalLM", qwen3_moe},
      {"gemma", "GemmaForCausalLM", gemma},
      {"gemma2", "Gemma2ForCausalLM", gemma2},
      {"gemma3", "Gemma3ForCausalLM", gemma3},
      {"gemma3_text", "Gemma3ForCausalLM", gemma3},
      {"gpt2", "GPT2LMHeadModel", gpt2},
      {"gptj", "GPTJForCausalLM", gptj},
      {"gpt_neox", "GPTNeoXForCausalLM", gpt_neox},
      {"phi", "PhiForCausalLM", phi},
      {"phi3", "Phi3ForCausalLM", phi3},
      {"opt", "OPTForCausalLM", opt},
      {"olmo", "OlmoForCausalLM", olmo},
      {"olmo2", "Olmo2ForCausalLM", olmo2},
      {"granite", "GraniteForCausalLM", llama},
      {"granitemoe", "GraniteMoeForCausalLM", granitemoe},
      {"deepseek_v2", "DeepseekV2ForCausalLM", deepseek},
      {"deepseek_v3", "DeepseekV3ForCausalLM", deepseek},
      {"gpt_oss", "GptOssForCausalLM", gpt_oss},
  };
  return table;
}

} // namespace clustersim
