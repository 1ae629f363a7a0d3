#pragma once
// What `import` found in a foreign configuration.

#include "spec/transformer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct ImportSummary {
  ParameterCount count;
  std::string toml; // printed with the text; empty: written elsewhere
  std::vector<std::string> inferred, defaulted, ignored;
};

[[nodiscard]] std::string render_import_text(const ImportSummary& summary);
[[nodiscard]] std::string render_import_json(const ImportSummary& summary,
                                             std::string_view version);

} // namespace clustersim
