#pragma once
// A scenario file written anew with another plan. Comments are lost; keys, values and their order
// stay.

#include "base/diagnostic.hpp"
#include "spec/scenario.hpp"
#include "spec/tree.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// In quotes, and a key in quotes where it needs them.
[[nodiscard]] std::string toml_string(std::string_view text);
[[nodiscard]] std::string toml_key(const std::string& key);

/// As TOML: values first, then tables, each under its own header.
[[nodiscard]] std::string toml_text(const Tree& root);

/// The file at `path` with `settings` laid on it, [search] left out and `plan` in place of what
/// [plan] says about the axes of a search. Nothing when the file cannot be read.
[[nodiscard]] std::optional<std::string> with_plan(const std::string& path,
                                                   const std::vector<std::string>& settings,
                                                   const Plan& plan, Diagnostics& out);

} // namespace clustersim
