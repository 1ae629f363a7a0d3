// Dense decoders whose sizes have names of their own, most of them older than Llama.

#include "foreign/huggingface_families.hpp"

namespace clustersim {
namespace {

void biases(ModelKeys& m, bool on = true) {
  m.set_all({"attention_bias", "projection_bias", "mlp_bias"}, on);
}

void gpt2_sizes(JsonConfig& c, ModelKeys& m) {
  const std::int64_t hidden = c.count("n_embd");
  m.set("layers", c.count("n_layer"));
  m.set("hidden", hidden);
  m.set("heads", c.count("n_head"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("ffn_hidden", c.count("n_inner", 4 * hidden));
  map_activation(c, m, "activation_function");
  m.set("norm", "layer");
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  m.set("sequence_default", c.count("n_positions"));
}

void gpt2(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  gpt2_sizes(c, m);
  m.set("position", "learned");
  m.set("max_positions", c.count("n_positions"));
  c.only("add_cross_attention", "false", "cross-attention");
  biases(m);
  map_decoder_head(c, m, ending);
}

void gptj(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  gpt2_sizes(c, m);
  m.set("position", "rotary");
  m.set_all({"parallel_block", "mlp_bias"}, true);
  map_decoder_head(c, m, ending, true);
}

void gpt_neox(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m, {.norm = "layer", .gated = false});
  m.set("parallel_block", c.flag("use_parallel_residual"));
  m.set("layer_norms", std::int64_t{2});
  map_attention_biases(c, m);
  m.set("mlp_bias", true);
  map_decoder_head(c, m, ending);
}

void phi(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  map_llama(c, m, {.norm = "layer", .gated = false});
  if (c.flag("qk_layernorm")) m.set("qk_norm", "head");
  m.set("parallel_block", true);
  biases(m);
  map_decoder_head(c, m, ending, true);
}

void opt(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  const std::int64_t hidden = c.count("hidden_size");
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", hidden);
  m.set("heads", c.count("num_attention_heads"));
  m.set("ffn_hidden", c.count("ffn_dim"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("embedding_width", c.count("word_embed_proj_dim", hidden));
  const std::int64_t positions = c.count("max_position_embeddings");
  m.set("max_positions", positions + 2);
  c.infer("max_positions = max_position_embeddings + 2: the table of the type begins two rows "
          "early");
  m.set("sequence_default", positions);
  map_activation(c, m, "activation_function");
  m.set("norm", "layer");
  m.set("position", "learned");
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  const bool before = c.flag("do_layer_norm_before");
  m.set("final_norm", before && !c.flag("_remove_final_layer_norm"));
  m.set("norm_weight", c.flag("layer_norm_elementwise_affine"));
  biases(m, c.flag("enable_bias"));
  map_decoder_head(c, m, ending);
}

void bloom(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  m.set("layers", c.count("n_layer"));
  m.set("hidden", c.count("hidden_size"));
  m.set("heads", c.count("n_head"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("norm", "layer");
  m.set("position", "alibi");
  m.set("embedding_norm", true);
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  biases(m);
  map_decoder_head(c, m, ending);
}

/// Two norms of a parallel block where the newer architecture or the file asks for them.
std::int64_t falcon_norms(JsonConfig& c, bool newer, bool parallel) {
  const std::int64_t asked = c.count("num_ln_in_parallel_attn", newer ? 2 : 1);
  return !parallel || asked == 2 ? 2 : 1;
}

void falcon(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  const std::int64_t hidden = c.count("hidden_size");
  const std::int64_t heads = c.count("num_attention_heads");
  const bool newer = c.flag("new_decoder_architecture");
  const bool single = c.flag("multi_query");
  const bool parallel = c.flag("parallel_attn");
  const std::int64_t groups = c.count("num_kv_heads", heads);
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", hidden);
  m.set("heads", heads);
  m.set("kv_heads", newer ? groups : single ? std::int64_t{1} : heads);
  m.set("ffn_hidden", c.count("ffn_hidden_size", 4 * hidden));
  m.set("vocabulary", c.count("vocab_size"));
  map_activation(c, m, "activation");
  m.set("norm", "layer");
  m.set("position", c.flag("alibi") ? "alibi" : "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  m.set("parallel_block", parallel);
  m.set("layer_norms", falcon_norms(c, newer, parallel));
  m.set("sequence_default", c.count("max_position_embeddings"));
  biases(m, c.flag("bias"));
  map_decoder_head(c, m, ending);
}

/// The library builds ALiBi, an MLP of four times the width and no biases, whatever the file says.
void mpt(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  const std::int64_t hidden = c.count("d_model");
  m.set("layers", c.count("n_layers"));
  m.set("hidden", hidden);
  m.set("heads", c.count("n_heads"));
  m.set("ffn_hidden", 4 * hidden);
  m.set("vocabulary", c.count("vocab_size"));
  m.set("sequence_default", c.count("max_seq_len"));
  m.set("norm", "layer");
  m.set("norm_bias", false);
  m.set("position", "alibi");
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  c.infer("position = alibi, ffn_hidden = 4 d_model and no biases: so the type is built");
  map_decoder_head(c, m, ending);
}

constexpr const char* gpt2_defaults = R"({
  "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12,
  "activation_function": "gelu_new", "tie_word_embeddings": true})";
constexpr const char* gptj_defaults = R"({
  "vocab_size": 50400, "n_positions": 2048, "n_embd": 4096, "n_layer": 28, "n_head": 16,
  "activation_function": "gelu_new", "tie_word_embeddings": false})";
constexpr const char* neox_defaults = R"({
  "vocab_size": 50432, "hidden_size": 6144, "num_hidden_layers": 44, "num_attention_heads": 64,
  "intermediate_size": 24576, "hidden_act": "gelu", "max_position_embeddings": 2048,
  "tie_word_embeddings": false, "use_parallel_residual": true, "attention_bias": true})";
constexpr const char* phi_defaults = R"({
  "vocab_size": 51200, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24,
  "num_attention_heads": 32, "hidden_act": "gelu_new", "max_position_embeddings": 2048,
  "tie_word_embeddings": false, "qk_layernorm": false})";
constexpr const char* opt_defaults = R"({
  "vocab_size": 50272, "hidden_size": 768, "num_hidden_layers": 12, "ffn_dim": 3072,
  "max_position_embeddings": 2048, "do_layer_norm_before": true,
  "_remove_final_layer_norm": false, "num_attention_heads": 12, "activation_function": "relu",
  "enable_bias": true, "layer_norm_elementwise_affine": true, "tie_word_embeddings": true})";
constexpr const char* bloom_defaults = R"({
  "vocab_size": 250880, "hidden_size": 64, "n_layer": 2, "n_head": 8,
  "tie_word_embeddings": true})";
constexpr const char* falcon_defaults = R"({
  "vocab_size": 65024, "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
  "new_decoder_architecture": false, "multi_query": true, "parallel_attn": true, "bias": false,
  "alibi": false, "activation": "gelu", "max_position_embeddings": 2048,
  "tie_word_embeddings": true})";
constexpr const char* mpt_defaults = R"({
  "d_model": 2048, "n_heads": 16, "n_layers": 24, "max_seq_len": 2048, "vocab_size": 50368,
  "tie_word_embeddings": true})";

} // namespace

const std::vector<HuggingFaceFamily>& older_families() {
  constexpr const char* usual = "ForCausalLM";
  const JsonNames gpt2_names{{"hidden_size", "n_embd"},
                             {"max_position_embeddings", "n_positions"},
                             {"num_attention_heads", "n_head"},
                             {"num_hidden_layers", "n_layer"}};
  const JsonNames bloom_names{{"num_hidden_layers", "n_layer"},
                              {"num_attention_heads", "n_head"},
                              {"n_embed", "hidden_size"}};
  const JsonNames falcon_names{{"n_layer", "num_hidden_layers"},
                               {"n_head", "num_attention_heads"},
                               {"n_head_kv", "num_kv_heads"},
                               {"n_embed", "hidden_size"}};
  const JsonNames mpt_names{{"num_attention_heads", "n_heads"},
                            {"hidden_size", "d_model"},
                            {"num_hidden_layers", "n_layers"}};
  static const std::vector<HuggingFaceFamily> table{
      {"gpt2", {"GPT2"}, "LMHeadModel", gpt2_defaults, gpt2_names, gpt2},
      {"gptj", {"GPTJ"}, usual, gptj_defaults, gpt2_names, gptj},
      {"gpt_neox", {"GPTNeoX"}, usual, neox_defaults, {}, gpt_neox},
      {"phi", {"Phi"}, usual, phi_defaults, {}, phi},
      {"opt", {"OPT"}, usual, opt_defaults, {{"d_model", "hidden_size"}}, opt},
      {"bloom", {"Bloom"}, usual, bloom_defaults, bloom_names, bloom},
      {"falcon", {"Falcon", "RW"}, usual, falcon_defaults, falcon_names, falcon},
      {"mpt", {"Mpt", "MPT"}, usual, mpt_defaults, mpt_names, mpt},
  };
  return table;
}

} // namespace clustersim
