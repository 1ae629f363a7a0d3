// What several model types share.

#include "foreign/huggingface_families.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace clustersim {

void ModelKeys::set(const char* key, const std::vector<std::int64_t>& numbers) {
  values.emplace_back(key, fmt::format("[{}]", fmt::join(numbers, ", ")));
}

void map_activation(JsonConfig& c, ModelKeys& m, const std::string& key) {
  std::string name = c.text(key, "");
  constexpr std::string_view gated = "gated-"; // T5
  if (name.starts_with(gated)) name.erase(0, gated.size());
  if (name == "silu" || name == "swish") {
    m.set("activation", "silu");
  } else if (name == "relu") {
    m.set("activation", "relu");
  } else {
    m.set("activation", "gelu");
    if (name.find("gelu") == std::string::npos) {
      c.infer("activation = gelu in place of " + key + ": any function of one value moves as much");
    }
  }
}

void map_sizes(JsonConfig& c, ModelKeys& m, bool own_heads) {
  m.set("layers", c.count("num_hidden_layers"));
  m.set("hidden", c.count("hidden_size"));
  const std::int64_t heads = c.count("num_attention_heads");
  m.set("heads", heads);
  if (own_heads) m.set("kv_heads", c.count("num_key_value_heads", heads));
  c.use("num_key_value_heads");
  if (own_heads && c.has("head_dim")) m.set("head_dim", c.count("head_dim"));
  c.use("head_dim");
  m.set("vocabulary", c.count("vocab_size"));
  m.set("sequence_default", c.count("max_position_embeddings"));
}

void map_llama(JsonConfig& c, ModelKeys& m, const LlamaLike& like) {
  map_sizes(c, m, like.own_heads);
  m.set("ffn_hidden", c.count("intermediate_size"));
  map_activation(c, m, like.activation_key);
  if (like.gated) m.set("gated_mlp", true);
  m.set("norm", like.norm);
  m.set("position", "rotary");
  m.set("tied_embeddings", c.flag("tie_word_embeddings"));
}

void map_attention_biases(JsonConfig& c, ModelKeys& m) {
  m.set_all({"attention_bias", "projection_bias"}, c.flag("attention_bias"));
}

void map_local_experts(JsonConfig& c, ModelKeys& m) {
  m.set("moe.experts", c.count("num_local_experts"));
  m.set("moe.top_k", c.count("num_experts_per_tok"));
}

std::int64_t labels(JsonConfig& c) {
  if (c.has("id2label")) return static_cast<std::int64_t>(c.size("id2label"));
  return c.count("num_labels", 2);
}

void map_classes(JsonConfig& c, ModelKeys& m, std::int64_t outputs, bool bias) {
  m.set("sequence_classes", outputs);
  if (!bias) m.set("class_bias", false);
  c.infer(fmt::format("sequence_classes = {}: the head that architectures names", outputs));
}

void refuse_class(JsonConfig& c) {
  c.refuse("the checkpoint of this class of architectures holds parts that a transformer file "
           "cannot say",
           "architectures");
}

void map_decoder_head(JsonConfig& c, ModelKeys& m, const std::string& ending,
                      bool vocabulary_bias) {
  const bool scores = ending == "ForCausalLM" || ending == "LMHeadModel" ||
                      ending == "DoubleHeadsModel" || ending == "ForConditionalGeneration";
  if (scores) {
    if (vocabulary_bias) m.set("head_bias", true);
    if (ending == "DoubleHeadsModel") map_classes(c, m, 1, true);
    return;
  }
  m.set("vocabulary_head", false);
  if (ending == "ForSequenceClassification") {
    map_classes(c, m, labels(c), false);
  } else if (ending == "ForTokenClassification") {
    map_classes(c, m, labels(c), true);
  } else if (ending == "ForQuestionAnswering") {
    map_classes(c, m, 2, true);
  } else if (ending != "Model" && ending != "TextModel") {
    refuse_class(c);
  }
}

namespace {

/// Every so many layers one is full: 0 where `full` is no such pattern.
std::int64_t period_of(const std::vector<std::int64_t>& full, std::int64_t layers) {
  if (full.empty()) return 0;
  const std::int64_t every = full.front() + 1;
  const auto pattern = layers_where(layers, [&](auto i) { return (i + 1) % every == 0; });
  return full == pattern ? every : 0;
}

} // namespace

std::int64_t window_of(JsonConfig& c, bool on) {
  return on && c.has("sliding_window") ? c.count("sliding_window") : 0;
}

void map_window(JsonConfig& c, ModelKeys& m, std::int64_t window,
                const std::vector<std::int64_t>& full) {
  const std::int64_t layers = c.count("num_hidden_layers");
  std::vector<std::int64_t> all_keys = full;
  if (c.has("layer_types")) {
    const std::vector<std::string> types = c.texts("layer_types");
    if (!c.is_wrong() && types.size() != static_cast<std::size_t>(layers)) {
      c.refuse("'layer_types' does not name each layer", "layer_types");
    }
    all_keys = layers_where(static_cast<std::int64_t>(types.size()), [&](std::int64_t i) {
      return types[static_cast<std::size_t>(i)] != "sliding_attention";
    });
  }
  c.use("layer_types");
  if (window == 0 || all_keys.size() == static_cast<std::size_t>(layers)) return;
  m.set("window", window);
  const std::int64_t every = period_of(all_keys, layers);
  if (every > 0) {
    m.set("full_every", every);
  } else if (!all_keys.empty()) {
    m.set("full_layers", all_keys);
  }
}

} // namespace clustersim
