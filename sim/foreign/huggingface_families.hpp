#pragma once
// Internal to this folder: how each model type of Hugging Face maps to the keys of a transformer.

#include "foreign/json_config.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

/// Keys under [model] and their TOML values, in order. Keys with a dot come last.
struct ModelKeys {
  std::vector<std::pair<std::string, std::string>> values;

  void set(const char* key, std::int64_t value) { values.emplace_back(key, std::to_string(value)); }
  void set(const char* key, bool value) { values.emplace_back(key, value ? "true" : "false"); }
  void set(const char* key, const char* word) {
    values.emplace_back(key, "\"" + std::string{word} + "\"");
  }
  void set_all(std::initializer_list<const char*> keys, bool value) {
    for (const char* key : keys) {
      set(key, value);
    }
  }
};

struct HuggingFaceFamily {
  const char* model_type;
  const char* architecture; // the one whose checkpoint is counted
  void (*map)(JsonConfig&, ModelKeys&);
};

[[nodiscard]] const std::vector<HuggingFaceFamily>& huggingface_families();
[[nodiscard]] const std::vector<HuggingFaceFamily>& other_huggingface_families();

} // namespace clustersim
