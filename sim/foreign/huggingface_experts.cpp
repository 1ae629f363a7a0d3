// Decoders with experts.

#include "foreign/huggingface_families.hpp"

#include <algorithm>

namespace clustersim {
namespace {

void mixtral(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_window(c, m, window_of(c), {});
  c.use("sliding_window");
  map_local_experts(c, m);
  map_decoder_head(c, m, ending);
}

/// Every so many layers one has experts, but for those listed; none where nothing is left of them.
bool qwen_experts(JsonConfig& c, ModelKeys& m) {
  const std::int64_t layers = c.count("num_hidden_layers"), experts = c.count("num_experts");
  const std::int64_t step = c.count("decoder_sparse_step");
  std::vector<std::int64_t> dense = c.counts("mlp_only_layers");
  std::erase_if(dense, [&](std::int64_t i) { return i >= layers || step < 1 || (i + 1) % step; });
  std::ranges::sort(dense);
  dense.erase(std::unique(dense.begin(), dense.end()), dense.end());
  const std::int64_t top = c.count("num_experts_per_tok"), width = c.count("moe_intermediate_size");
  if (step < 1) c.refuse("'decoder_sparse_step' is no step", "decoder_sparse_step");
  const bool some =
      experts > 0 && step > 0 && layers / step > static_cast<std::int64_t>(dense.size());
  if (!some) {
    c.infer("no layer has experts");
    return false;
  }
  m.set("moe.experts", experts);
  m.set("moe.top_k", top);
  m.set("moe.ffn_hidden", width);
  m.set("moe.interval", step);
  if (!dense.empty()) m.set("moe.dense_layers", dense);
  return true;
}

void qwen2_moe(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  m.set("attention_bias", c.flag("qkv_bias"));
  const bool on = c.flag("use_sliding_window");
  c.use("sliding_window");
  const std::int64_t most = c.count("max_window_layers");
  map_window(c, m, window_of(c, on), layers_where(c.count("num_hidden_layers"), [&](auto i) {
               return i % 2 == 1 || i >= most;
             }));
  const std::int64_t shared = c.count("shared_expert_intermediate_size");
  if (qwen_experts(c, m)) {
    m.set("moe.shared_ffn_hidden", shared);
    m.set("moe.shared_gate", true);
  }
  map_decoder_head(c, m, ending);
}

void qwen3_moe(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  m.set("qk_norm", "head");
  c.infer("qk_norm = head: the type has norms of queries and keys");
  const bool on = c.flag("use_sliding_window");
  c.use("sliding_window");
  c.use("max_window_layers");
  map_window(c, m, window_of(c, on), {});
  qwen_experts(c, m);
  map_decoder_head(c, m, ending);
}

void granitemoe(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  map_local_experts(c, m);
  map_decoder_head(c, m, ending);
}

void gpt_oss(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m);
  map_attention_biases(c, m);
  m.set_all({"mlp_bias", "attention_sinks"}, true);
  map_window(c, m, window_of(c),
             layers_where(c.count("num_hidden_layers"), [](auto i) { return i % 2 == 1; }));
  c.use("sliding_window");
  map_local_experts(c, m);
  m.set("moe.router_bias", true);
  c.infer("biases of router and experts, and attention sinks: so the type is built");
  map_decoder_head(c, m, ending);
}

void deepseek_experts(JsonConfig& c, ModelKeys& m) {
  const std::int64_t layers = c.count("num_hidden_layers");
  const std::int64_t dense = c.count("first_k_dense_replace");
  const std::int64_t experts = c.count("n_routed_experts", 0);
  const std::int64_t shared = c.count("n_shared_experts", 0);
  const std::int64_t width = c.count("moe_intermediate_size");
  if (experts == 0 || dense >= layers) {
    c.use("num_experts_per_tok");
    c.infer("no layer has experts");
    return;
  }
  m.set("moe.experts", experts);
  m.set("moe.top_k", c.count("num_experts_per_tok"));
  m.set("moe.ffn_hidden", width);
  m.set("moe.shared", shared);
  m.set("moe.dense_first", dense);
}

void deepseek(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m, {.own_heads = false});
  map_attention_biases(c, m);
  c.only("mlp_bias", "false", "biases in the MLP");
  c.only("moe_layer_freq", "1", "dense layers between those with experts");
  m.set("mla.kv_rank", c.count("kv_lora_rank"));
  if (c.has("q_lora_rank")) m.set("mla.q_rank", c.count("q_lora_rank"));
  c.use("q_lora_rank");
  m.set("mla.nope_dim", c.count("qk_nope_head_dim"));
  m.set("mla.rope_dim", c.count("qk_rope_head_dim"));
  m.set("mla.value_dim", c.count("v_head_dim"));
  deepseek_experts(c, m);
  if (c.has("num_nextn_predict_layers")) {
    c.infer("no multi-token prediction module: the library builds none");
  }
  c.use("num_nextn_predict_layers");
  map_decoder_head(c, m, ending);
}

void dbrx(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  JsonConfig attention = c.child("attn_config");
  JsonConfig ffn = c.child("ffn_config");
  attention.assume(R"({"kv_n_heads": 1})");
  ffn.assume(R"({"ffn_hidden_size": 3584, "moe_num_experts": 4, "moe_top_k": 1})");
  m.set("layers", c.count("n_layers"));
  m.set("hidden", c.count("d_model"));
  m.set("heads", c.count("n_heads"));
  m.set("kv_heads", attention.count("kv_n_heads"));
  m.set("ffn_hidden", ffn.count("ffn_hidden_size"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("sequence_default", c.count("max_seq_len"));
  JsonConfig function = ffn.child("ffn_act_fn");
  function.assume(R"({"name": "silu"})");
  map_activation(function, m, "name");
  m.set("gated_mlp", true);
  m.set("norm", "layer");
  m.set("norm_bias", false);
  m.set("position", "rotary");
  c.only("tie_word_embeddings", "false", "a tied head, which the library refuses");
  m.set("moe.experts", ffn.count("moe_num_experts"));
  m.set("moe.top_k", ffn.count("moe_top_k"));
  ffn.take_over(function, "ffn_act_fn");
  c.take_over(attention, "attn_config");
  c.take_over(ffn, "ffn_config");
  map_decoder_head(c, m, ending);
}

constexpr const char* mixtral_defaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "hidden_act": "silu",
  "max_position_embeddings": 131072, "tie_word_embeddings": false, "num_local_experts": 8,
  "num_experts_per_tok": 2})";
constexpr const char* qwen2_moe_defaults = R"({
  "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 24,
  "num_attention_heads": 16, "num_key_value_heads": 16, "hidden_act": "silu",
  "max_position_embeddings": 32768, "tie_word_embeddings": false, "use_sliding_window": false,
  "sliding_window": 4096, "max_window_layers": 28, "decoder_sparse_step": 1,
  "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632,
  "num_experts_per_tok": 4, "num_experts": 60, "qkv_bias": true})";
constexpr const char* qwen3_moe_defaults = R"({
  "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 24,
  "num_attention_heads": 32, "num_key_value_heads": 4, "hidden_act": "silu",
  "max_position_embeddings": 32768, "tie_word_embeddings": false, "attention_bias": false,
  "use_sliding_window": false, "sliding_window": 4096, "decoder_sparse_step": 1,
  "moe_intermediate_size": 768, "num_experts_per_tok": 8, "num_experts": 128})";
constexpr const char* granitemoe_defaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "hidden_act": "silu", "max_position_embeddings": 2048,
  "tie_word_embeddings": false, "attention_bias": false, "num_local_experts": 8,
  "num_experts_per_tok": 2})";
constexpr const char* gpt_oss_defaults = R"({
  "vocab_size": 201088, "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 36,
  "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "hidden_act": "silu",
  "max_position_embeddings": 131072, "tie_word_embeddings": false, "attention_bias": true,
  "sliding_window": 128, "num_local_experts": 128, "num_experts_per_tok": 4})";
constexpr const char* deepseek_v2_defaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "hidden_act": "silu", "max_position_embeddings": 2048,
  "tie_word_embeddings": false, "attention_bias": false, "first_k_dense_replace": 0,
  "kv_lora_rank": 512, "q_lora_rank": 1536, "n_routed_experts": 64, "n_shared_experts": 2,
  "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "moe_intermediate_size": 1407})";
constexpr const char* deepseek_v3_defaults = R"({
  "vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432, "num_hidden_layers": 61,
  "num_attention_heads": 128, "num_key_value_heads": 128, "hidden_act": "silu",
  "max_position_embeddings": 4096, "tie_word_embeddings": false, "attention_bias": false,
  "first_k_dense_replace": 3, "kv_lora_rank": 512, "q_lora_rank": 1536, "n_routed_experts": 256,
  "n_shared_experts": 1, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
  "moe_intermediate_size": 2048, "num_experts_per_tok": 8})";
constexpr const char* dbrx_defaults = R"({
  "d_model": 2048, "n_heads": 16, "n_layers": 24, "max_seq_len": 2048, "vocab_size": 32000})";

} // namespace

const std::vector<HuggingFaceFamily>& expert_families() {
  constexpr const char* usual = "ForCausalLM";
  const JsonNames local{{"num_experts", "num_local_experts"}};
  const JsonNames plain{{"num_local_experts", "num_experts"}};
  const JsonNames routed{{"num_local_experts", "n_routed_experts"},
                         {"num_experts", "n_routed_experts"}};
  static const std::vector<HuggingFaceFamily> table{
      {"mixtral", {"Mixtral"}, usual, mixtral_defaults, local, mixtral},
      {"qwen2_moe", {"Qwen2Moe"}, usual, qwen2_moe_defaults, plain, qwen2_moe},
      {"qwen3_moe", {"Qwen3Moe"}, usual, qwen3_moe_defaults, plain, qwen3_moe},
      {"granitemoe", {"GraniteMoe"}, usual, granitemoe_defaults, local, granitemoe},
      {"gpt_oss", {"GptOss"}, usual, gpt_oss_defaults, local, gpt_oss},
      {"deepseek_v2", {"DeepseekV2"}, usual, deepseek_v2_defaults, routed, deepseek},
      {"deepseek_v3", {"DeepseekV3"}, usual, deepseek_v3_defaults, routed, deepseek},
      {"dbrx",
       {"Dbrx"},
       usual,
       dbrx_defaults,
       {{"num_attention_heads", "n_heads"},
        {"hidden_size", "d_model"},
        {"num_hidden_layers", "n_layers"},
        {"max_position_embeddings", "max_seq_len"}},
       dbrx},
  };
  return table;
}

} // namespace clustersim
