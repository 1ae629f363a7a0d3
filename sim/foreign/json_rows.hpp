#pragma once
// A list of flat objects, as reports of this program hold, read as a table.

#include "foreign/csv.hpp"

#include <optional>
#include <string>

namespace clustersim {

/// The objects under `key` of the JSON text; they all have the members of the first, in its order.
/// Null reads as an empty field. Nothing when the text is otherwise; `out` then says so.
[[nodiscard]] std::optional<CsvTable> json_rows(const std::string& text, const std::string& path,
                                                const std::string& key, Diagnostics& out);

} // namespace clustersim
