#pragma once
// `list` and `show`: what is in the catalogue, and what one entry holds.

#include "report/layout.hpp"
#include "spec/catalogue.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// A figure worth a column: its JSON key, its head, its text, and its number in SI units.
struct ListedFact {
  std::string key, head, text;
  std::optional<double> number;
};

struct ListedEntry {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string path;
  std::vector<ListedFact> facts; // the same keys for each entry of a list
};

struct Listing {
  std::string kind; // plural, as the user asks for it: "chips"
  std::vector<ListedEntry> entries;
};

[[nodiscard]] std::string render_list_text(const Listing& listing, TextStyle style);
[[nodiscard]] std::string render_list_json(const Listing& listing, std::string_view version);
[[nodiscard]] std::string render_list_csv(const Listing& listing);

/// One entry in full.
struct Details {
  std::string kind; // "chip", "scenario", …
  std::string id, name;
  std::vector<std::string> aliases;
  std::string path, note;
  std::vector<ResolvedValue> values;
};

[[nodiscard]] std::string render_show_text(const Details& details, TextStyle style);
[[nodiscard]] std::string render_show_json(const Details& details, std::string_view version);

} // namespace clustersim
