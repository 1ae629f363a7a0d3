// Encoders, and encoders with a decoder.

#include "foreign/huggingface_families.hpp"

#include <algorithm>

namespace clustersim {
namespace {

bool one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::ranges::find(words, word) != words.end();
}

/// The head that an ending names: a masked-token head, a classifier, the pooler under them.
void bert_head(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  const bool tokens =
      one_of(ending, {"ForMaskedLM", "ForPreTraining", "LMHeadModel", "ForCausalLM"});
  if (tokens) m.set("mlm_head", true);
  // RoBERTa's sequence classifier has a dense layer of its own where BERT's has the pooler.
  const bool pooled = one_of(ending, {"Model", "ForPreTraining", "ForSequenceClassification",
                                      "ForNextSentencePrediction", "ForMultipleChoice"});
  if (pooled) m.set("pooler", true);
  if (one_of(ending, {"ForPreTraining", "ForNextSentencePrediction"})) {
    map_classes(c, m, 2, true);
  } else if (ending == "ForMultipleChoice") {
    map_classes(c, m, 1, true);
  } else if (one_of(ending, {"ForSequenceClassification", "ForTokenClassification",
                             "ForQuestionAnswering"})) {
    map_classes(c, m, labels(c), true);
  } else if (!tokens && ending != "Model") {
    refuse_class(c);
  }
}

void bert(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  m.set("architecture", "encoder");
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", c.count("hidden_size"));
  m.set("heads", c.count("num_attention_heads"));
  m.set("ffn_hidden", c.count("intermediate_size"));
  m.set("vocabulary", c.count("vocab_size"));
  m.set("max_positions", c.count("max_position_embeddings"));
  m.set("token_types", c.count("type_vocab_size"));
  m.set("sequence_default", c.count("max_position_embeddings"));
  map_activation(c, m, "hidden_act");
  m.set("norm", "layer");
  m.set("position", "learned");
  m.set("embedding_norm", true);
  m.set("final_norm", false);
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  m.set_all({"attention_bias", "projection_bias", "mlp_bias"}, true);
  c.only("position_embedding_type", "\"absolute\"", "tables of relative positions in each layer");
  c.only("is_decoder", "false", "a causal mask in an encoder's place");
  c.only("add_cross_attention", "false", "cross-attention");
  bert_head(c, m, ending);
}

void t5_head(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  if (one_of(ending, {"ForConditionalGeneration", "WithLMHeadModel"})) return;
  m.set("vocabulary_head", false);
  if (ending == "ForSequenceClassification") {
    m.set("pooler", true); // a dense layer of the same shape
    c.infer("pooler = true: the dense layer before the classifier");
  }
  if (one_of(ending,
             {"ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"})) {
    map_classes(c, m, labels(c), true);
  } else if (!one_of(ending, {"Model", "EncoderModel"})) {
    refuse_class(c);
  }
}

void t5(JsonConfig& c, ModelKeys& m, const std::string& ending) {
  const std::int64_t layers = c.count("num_layers");
  const bool both = !one_of(ending, {"EncoderModel", "ForTokenClassification"});
  const std::int64_t decoder = c.count("num_decoder_layers", layers);
  m.set("architecture", both ? "encoder-decoder" : "encoder");
  m.set("layers", layers);
  if (both) m.set("decoder_layers", decoder);
  m.set("hidden", c.count("d_model"));
  m.set("heads", c.count("num_heads"));
  m.set("head_dim", c.count("d_kv"));
  m.set("ffn_hidden", c.count("d_ff"));
  m.set("gated_mlp", c.text("feed_forward_proj", "").starts_with("gated-"));
  map_activation(c, m, "feed_forward_proj");
  m.set("vocabulary", c.count("vocab_size"));
  m.set("norm", "rms");
  m.set("position", "relative");
  m.set("relative_buckets", c.count("relative_attention_num_buckets"));
  m.set("sequence_default", c.count("n_positions"));
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
  t5_head(c, m, ending);
}

constexpr const char* bert_defaults = R"({
  "vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
  "intermediate_size": 3072, "hidden_act": "gelu", "max_position_embeddings": 512,
  "type_vocab_size": 2, "tie_word_embeddings": true})";
constexpr const char* roberta_defaults = R"({
  "vocab_size": 50265, "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
  "intermediate_size": 3072, "hidden_act": "gelu", "max_position_embeddings": 512,
  "type_vocab_size": 2, "tie_word_embeddings": true})";
constexpr const char* t5_defaults = R"({
  "vocab_size": 32128, "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8,
  "relative_attention_num_buckets": 32, "feed_forward_proj": "relu", "n_positions": 512,
  "tie_word_embeddings": true})";

} // namespace

const std::vector<HuggingFaceFamily>& encoder_families() {
  const JsonNames t5_names{{"hidden_size", "d_model"},
                           {"num_attention_heads", "num_heads"},
                           {"num_hidden_layers", "num_layers"},
                           {"head_dim", "d_kv"}};
  static const std::vector<HuggingFaceFamily> table{
      {"bert", {"Bert"}, "ForMaskedLM", bert_defaults, {}, bert},
      {"roberta", {"Roberta", "XLMRoberta"}, "ForMaskedLM", roberta_defaults, {}, bert},
      {"t5", {"T5"}, "ForConditionalGeneration", t5_defaults, t5_names, t5},
  };
  return table;
}

} // namespace clustersim
