#include "foreign/json_rows.hpp"

#include "base/text.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

std::optional<std::string> field(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return shortest(value.get<double>());
  return std::nullopt;
}

/// False where the object is not flat or has other members than the first.
bool add_row(CsvTable& table, const Json& object) {
  if (!object.is_object() || object.empty()) return false;
  CsvRow row;
  const bool first = table.header.empty();
  for (const auto& [name, value] : object.items()) {
    const auto text = field(value);
    const std::size_t at = row.fields.size();
    if (!text || (!first && (at >= table.header.size() || table.header[at] != name))) return false;
    if (first) table.header.push_back(name);
    row.fields.push_back(*text);
  }
  const bool whole = row.fields.size() == table.header.size();
  table.rows.push_back(std::move(row));
  return whole;
}

/// Depth is bounded before anything is built: the parser recurses.
bool is_shallow(const std::string& text) {
  constexpr int deepest = 16;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > deepest) return false;
  }
  return true;
}

} // namespace

std::optional<CsvTable> json_rows(const std::string& text, const std::string& path,
                                  const std::string& key, Diagnostics& out) {
  CsvTable table;
  table.path = path;
  const Json root = is_shallow(text) ? Json::parse(text, nullptr, false) : Json{};
  bool good = root.is_object() && root.contains(key) && root[key].is_array();
  if (good) {
    for (const Json& object : root[key])
      good = good && add_row(table, object);
  }
  if (!good) {
    complain(out, path, fmt::format("no JSON with a list of flat objects under \"{}\"", key));
    return std::nullopt;
  }
  return table;
}

} // namespace clustersim
