#include "study/row_reader.hpp"

#include "base/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

namespace clustersim {
namespace {

constexpr double largest_count = 1e9;
// Numbers beyond these are slips; within them every product of a row's numbers is finite.
constexpr double least_amount = 1e-12, most_amount = 1e18;
constexpr std::size_t most_shown = 60; // bytes of a cell in a message

std::string shown(std::string_view text) {
  return printable(text.substr(0, most_shown));
}

std::vector<std::string> ids_of(const std::vector<const CatalogueEntry*>& entries) {
  std::vector<std::string> ids;
  for (const CatalogueEntry* entry : entries) {
    ids.push_back(entry->id);
  }
  return ids;
}

std::string unknown_chip(const Catalogue& catalogue, std::string_view name) {
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind == Kind::chip) {
      known.push_back(entry.id);
      known.insert(known.end(), entry.aliases.begin(), entry.aliases.end());
    }
  }
  const std::optional<std::string> near = nearest_name(name, known);
  return fmt::format("chip '{}' is not in the catalogue{}", shown(name),
                     near ? fmt::format("; nearest name: {}", *near) : "");
}

} // namespace

std::string bad_number(std::string_view column, std::string_view text) {
  return text.empty() || number_from(text)
             ? std::string()
             : fmt::format("{} is '{}', which is no finite number", column, shown(text));
}

std::string_view RowReader::text(std::string_view column) const {
  return table_->at(row_, column);
}

std::optional<std::string> RowReader::skip() const {
  const std::optional<Decision> decision = decide(*rules_, "skip", *table_, row_);
  return decision ? std::optional{decision->says} : std::nullopt;
}

std::optional<std::string> RowReader::take(std::string_view key) {
  std::optional<Decision> decision = decide(*rules_, key, *table_, row_);
  if (!decision) {
    return std::nullopt;
  }
  if (!decision->says.empty()) {
    assumptions_.push_back(std::move(decision->says));
  }
  return std::move(decision->value);
}

std::string RowReader::chip() {
  const std::string name = take("chip").value_or(std::string(text("chip")));
  const std::vector<const CatalogueEntry*> entries = catalogue_->find(Kind::chip, name);
  if (entries.empty()) {
    refuse(unknown_chip(*catalogue_, name));
    return {};
  }
  if (entries.size() > 1) {
    refuse(
        fmt::format("chip '{}' can be any of {}", shown(name), fmt::join(ids_of(entries), ", ")));
  }
  return entries.front()->id;
}

std::int64_t RowReader::count(std::string_view column) {
  const std::optional<double> value = number_from(text(column));
  if (!value || *value < 1 || *value > largest_count || *value != std::floor(*value)) {
    refuse(text(column).empty()
               ? fmt::format("the row does not say {}", column)
               : fmt::format("{} is '{}', which is no whole number from 1 to {:.0f}", column,
                             shown(text(column)), largest_count));
    return 1;
  }
  return static_cast<std::int64_t>(*value);
}

std::int64_t RowReader::count_or(std::string_view column, std::int64_t otherwise) {
  return text(column).empty() ? otherwise : count(column);
}

double RowReader::amount_of(std::string_view column) {
  const std::string_view cell = text(column);
  const std::optional<double> value = number_from(cell);
  if (value && *value >= least_amount && *value <= most_amount) {
    return *value;
  }
  refuse(cell.empty() ? fmt::format("no {} is measured", column)
         : !value     ? bad_number(column, cell)
                      : fmt::format("{} is no plausible measurement", column));
  return 1.0;
}

std::optional<double> RowReader::amount(std::string_view key) {
  const std::optional<std::string> value = take(key);
  if (!value || value->empty()) {
    return std::nullopt;
  }
  const std::optional<double> number = number_from(*value);
  if (!number || *number < least_amount || *number > most_amount) {
    refuse(fmt::format("{} is '{}', which is no plausible number", key, shown(*value)));
    return std::nullopt;
  }
  return number;
}

Precision RowReader::precision(std::string_view key) {
  const std::string name = take(key).value_or(std::string(text("precision")));
  const std::optional<Precision> precision = precision_from(name);
  if (!precision) {
    refuse(fmt::format("no number format '{}'", shown(name)));
  }
  return precision.value_or(Precision::fp32);
}

void RowReader::refuse(std::string reason) {
  if (refusal_.empty()) {
    refusal_ = std::move(reason);
  }
}

std::vector<std::string> RowReader::assumptions() const {
  std::vector<std::string> all = assumptions_;
  for (Decision& decision : decide_all(*rules_, "assume", *table_, row_)) {
    all.push_back(std::move(decision.says));
  }
  return all;
}

} // namespace clustersim
