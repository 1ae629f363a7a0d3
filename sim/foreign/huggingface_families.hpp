#pragma once
// Internal to this folder: how each model type of Hugging Face maps to the keys of a transformer.

#include "foreign/json_config.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

/// Keys under [model] and their TOML values, in order.
struct ModelKeys {
  std::vector<std::pair<std::string, std::string>> values;

  void set(const char* key, std::int64_t value) { values.emplace_back(key, std::to_string(value)); }
  void set(const char* key, bool value) { values.emplace_back(key, value ? "true" : "false"); }
  void set(const char* key, const char* word) {
    values.emplace_back(key, "\"" + std::string{word} + "\"");
  }
  void set(const char* key, const std::vector<std::int64_t>& numbers);
  void set_all(std::initializer_list<const char*> keys, bool value) {
    for (const char* key : keys) {
      set(key, value);
    }
  }
};

/// One model type. `ending` is what follows the prefix in architectures[0]: "ForCausalLM".
struct HuggingFaceFamily {
  const char* model_type;
  std::vector<std::string> prefixes; // of the names of its model classes
  const char* usual_ending;
  const char* defaults; // of its configuration class, as JSON
  JsonNames names;      // other names of its keys
  void (*map)(JsonConfig&, ModelKeys&, const std::string& ending);
};

[[nodiscard]] const std::vector<HuggingFaceFamily>& llama_like_families();
[[nodiscard]] const std::vector<HuggingFaceFamily>& expert_families();
[[nodiscard]] const std::vector<HuggingFaceFamily>& older_families();
[[nodiscard]] const std::vector<HuggingFaceFamily>& encoder_families();

// What several families share.

void map_activation(JsonConfig& c, ModelKeys& m, const std::string& key);
/// Sizes under the names that Llama gave them and nearly all later types use. Latent attention has
/// no heads of keys of its own.
void map_sizes(JsonConfig& c, ModelKeys& m, bool own_heads = true);
/// How a type's layers differ from Llama's.
struct LlamaLike {
  const char* activation_key = "hidden_act";
  const char* norm = "rms";
  bool gated = true, own_heads = true;
};
/// Sizes, MLP, norms, rotary positions and the flag for tied tables.
void map_llama(JsonConfig& c, ModelKeys& m, const LlamaLike& like = {});
/// One flag for the biases of all four projections.
void map_attention_biases(JsonConfig& c, ModelKeys& m);
/// Experts under Mixtral's names.
void map_local_experts(JsonConfig& c, ModelKeys& m);
/// What stands on a decoder's last hidden state.
void map_decoder_head(JsonConfig& c, ModelKeys& m, const std::string& ending,
                      bool vocabulary_bias = false);
void map_classes(JsonConfig& c, ModelKeys& m, std::int64_t outputs, bool bias);
/// The class that architectures names has parts that no key here stands for.
void refuse_class(JsonConfig& c);
/// num_labels, or as many as id2label names.
std::int64_t labels(JsonConfig& c);
/// The window of the file or class, 0 where it is null or not `on`.
std::int64_t window_of(JsonConfig& c, bool on = true);
/// A window in all layers but those of `full`, counted from 0; "layer_types" in the file wins.
void map_window(JsonConfig& c, ModelKeys& m, std::int64_t window,
                const std::vector<std::int64_t>& full);
/// Layers of a model, counted from 0, that a rule picks.
template <class Rule>
std::vector<std::int64_t> layers_where(std::int64_t layers, Rule rule) {
  std::vector<std::int64_t> out;
  constexpr std::int64_t most = 10000; // more are refused elsewhere
  for (std::int64_t i = 0; i < layers && i < most; ++i) {
    if (rule(i)) out.push_back(i);
  }
  return out;
}

} // namespace clustersim
