#pragma once
// TOML → Scenario. The only way in: every verb, test and study loads through here.

#include "base/diagnostic.hpp"
#include "spec/catalogue.hpp"
#include "spec/scenario.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// A model in another tool's words as the text of a transformer file, with a sentence on what that
/// tool's defaults filled in; nothing when it cannot be said, and the diagnostics say why.
struct ModelText {
  std::string toml, assumption;
};
using ModelImporter = std::function<std::optional<ModelText>(
    const std::string& text, const std::string& path, Diagnostics& out)>;

struct LoadOptions {
  std::vector<std::string> settings; // "key=value" from --set, later wins
  ModelImporter import_model = {};   // behind `model.hf`
  bool open_plan = false;            // whoever loads chooses the plan: [plan] need not fit
};

/// Reads, resolves and validates. Nothing on error; `out` then holds what was wrong (all semantic
/// problems at once; a syntax error or duplicate key ends parsing with one diagnostic).
[[nodiscard]] std::optional<Scenario> load_scenario(const std::string& path,
                                                    const Catalogue& catalogue,
                                                    const LoadOptions& options, Diagnostics& out);

/// The same from text: `name` stands for the file in diagnostics and its folder in look-ups.
[[nodiscard]] std::optional<Scenario> parse_scenario(const std::string& text,
                                                     const std::string& name,
                                                     const Catalogue& catalogue,
                                                     const LoadOptions& options, Diagnostics& out);

} // namespace clustersim
