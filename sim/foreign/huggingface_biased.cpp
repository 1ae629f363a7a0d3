// Model types whose sizes have names of their own, or that are no decoders.

#include "foreign/huggingface_families.hpp"

namespace clustersim {
namespace {

void biases(ModelKeys& m, bool on = true) {
  m.set_all({"attention_bias", "projection_bias", "mlp_bias"}, on);
}

void bloom(JsonConfig& c, ModelKeys& m) {
  m.set("layers", c.count("n_layer"));
  m.set("hidden", c.has("n_embed") ? c.count("n_embed") : c.count("hidden_size"));
  m.set("heads", c.has("num_attention_heads") ? c.count("num_attention_heads") : c.count("n_head"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("norm", "layer");
  m.set("position", "alibi");
  m.set("embedding_norm", true);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
  biases(m);
}

void falcon(JsonConfig& c, ModelKeys& m) {
  const std::int64_t hidden = c.count("hidden_size");
  const std::int64_t heads = c.count("num_attention_heads");
  const bool newer = c.flag("new_decoder_architecture", false);
  const bool single = c.flag("multi_query", true);
  const bool parallel = c.flag("parallel_attn", true) || newer;
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", hidden);
  m.set("heads", heads);
  m.set("kv_heads", newer ? c.count("num_kv_heads", heads) : single ? std::int64_t{1} : heads);
  m.set("ffn_hidden", c.count("ffn_hidden_size", 4 * hidden));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("norm", "layer");
  m.set("position", c.flag("alibi", false) ? "alibi" : "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
  m.set("parallel_block", parallel);
  const std::int64_t norms = newer ? c.count("num_ln_in_parallel_attn", 2) : parallel ? 1 : 2;
  m.set("layer_norms", norms);
  biases(m, c.flag("bias", false));
}

void mpt(JsonConfig& c, ModelKeys& m) {
  const std::int64_t hidden = c.count("d_model");
  m.set("layers", c.count("n_layers"));
  m.set("hidden", hidden);
  m.set("heads", c.count("n_heads"));
  m.set("ffn_hidden", c.count("expansion_ratio", 4) * hidden);
  m.set("vocabulary", c.count("vocab_size"));
  m.set("norm", "layer");
  m.set("norm_bias", false);
  m.set("position", "alibi");
  m.set("tied_embeddings", true);
  c.only("no_bias", "true", "biases");
  c.infer("position = alibi and tied_embeddings = true: so the type is built");
}

void dbrx(JsonConfig& c, ModelKeys& m) {
  JsonConfig attention = c.child("attn_config");
  JsonConfig ffn = c.child("ffn_config");
  m.set("layers", c.count("n_layers"));
  m.set("hidden", c.count("d_model"));
  const std::int64_t heads = c.count("n_heads");
  m.set("heads", heads);
  m.set("kv_heads", attention.count("kv_n_heads", 1));
  m.set("ffn_hidden", ffn.count("ffn_hidden_size", 3584));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("gated_mlp", true);
  m.set("activation", "silu");
  m.set("norm", "layer");
  m.set("norm_bias", false);
  m.set("position", "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings", false));
  m.set("moe.experts", ffn.count("moe_num_experts", 4));
  m.set("moe.top_k", ffn.count("moe_top_k", 1));
  c.take_over(attention);
  c.take_over(ffn);
}

void encoder(JsonConfig& c, ModelKeys& m, std::int64_t types) {
  m.set("architecture", "encoder");
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", c.count("hidden_size"));
  m.set("heads", c.count("num_attention_heads"));
  m.set("ffn_hidden", c.count("intermediate_size"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("max_positions", c.count("max_position_embeddings", 512));
  m.set("token_types", c.count("type_vocab_size", types));
  m.set("norm", "layer");
  m.set("position", "learned");
  m.set("embedding_norm", true);
  m.set("final_norm", false);
  m.set("mlm_head", true);
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
  biases(m);
}

void bert(JsonConfig& c, ModelKeys& m) {
  encoder(c, m, 2);
}

void t5(JsonConfig& c, ModelKeys& m) {
  const std::int64_t layers = c.count("num_layers");
  const std::string act = c.text("feed_forward_proj", "relu");
  if (act != "relu" && act != "gated-gelu") {
    c.refuse("'feed_forward_proj' is neither relu nor gated-gelu");
  }
  m.set("architecture", "encoder-decoder");
  m.set("layers", layers);
  m.set("decoder_layers", c.count("num_decoder_layers", layers));
  m.set("hidden", c.count("d_model"));
  m.set("heads", c.count("num_heads"));
  m.set("head_dim", c.count("d_kv"));
  m.set("ffn_hidden", c.count("d_ff"));
  m.set("gated_mlp", act == "gated-gelu");
  m.set("activation", act == "relu" ? "relu" : "gelu");
  m.set("vocabulary", c.count("vocab_size"));
  m.set("norm", "rms");
  m.set("position", "relative");
  m.set("relative_buckets", c.count("relative_attention_num_buckets", 32));
  m.set("tied_embeddings", c.flag("tie_word_embeddings", true));
}

} // namespace

const std::vector<HuggingFaceFamily>& other_huggingface_families() {
  static const std::vector<HuggingFaceFamily> table{
      {"bloom", "BloomForCausalLM", bloom},     {"falcon", "FalconForCausalLM", falcon},
      {"mpt", "MptForCausalLM", mpt},           {"dbrx", "DbrxForCausalLM", dbrx},
      {"bert", "BertForMaskedLM", bert},        {"roberta", "RobertaForMaskedLM", bert},
      {"t5", "T5ForConditionalGeneration", t5},
  };
  return table;
}

} // namespace clustersim
