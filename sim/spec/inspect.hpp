#pragma once
// Files and entries by themselves, outside any scenario: what `check` reads and `show` prints.

#include "spec/catalogue.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// Reads `path` as what its tables say it is: an entry of the catalogue, with all it refers to, or
/// nothing when it is none (a scenario). Problems go to `out`.
[[nodiscard]] std::optional<Kind> check_entry_file(const std::string& path,
                                                   const Catalogue& catalogue, Diagnostics& out);

/// Each figure of an entry of any kind, with unit and source, in file order.
[[nodiscard]] std::vector<ResolvedValue> entry_values(const Catalogue& catalogue, Kind kind,
                                                      const std::string& id, Diagnostics& out);

} // namespace clustersim
