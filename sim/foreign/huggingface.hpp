#pragma once
// A Hugging Face config.json as a transformer file. What the file does not say is what the
// library's own configuration class would say, and is listed; what bears on nothing we model is
// listed too.

#include "base/diagnostic.hpp"
#include "spec/transformer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct ImportedModel {
  std::string toml; // loads as a file of models/transformers
  std::string id;
  ParameterCount count; // of what the checkpoint of architectures[0] holds
  std::vector<std::string> inferred, defaulted, ignored;
};

/// Nothing when the configuration cannot be expressed; `out` then says why. `id` names the result.
[[nodiscard]] std::optional<ImportedModel> import_huggingface(const std::string& text,
                                                              const std::string& path,
                                                              const std::string& id,
                                                              Diagnostics& out);

} // namespace clustersim
