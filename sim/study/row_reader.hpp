#pragma once
// Internal to this folder: one row of evidence read column by column. The first thing that is wrong
// with the row is kept as its refusal; reading goes on with harmless values.

#include "base/precision.hpp"
#include "foreign/csv.hpp"
#include "spec/catalogue.hpp"
#include "study/resolver_rules.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

class RowReader {
public:
  RowReader(const CsvTable& table, std::size_t row, const ResolverRules& rules,
            const Catalogue& catalogue)
      : table_(&table), row_(row), rules_(&rules), catalogue_(&catalogue) {}

  [[nodiscard]] std::size_t index() const { return row_; }
  [[nodiscard]] std::string_view text(std::string_view column) const;
  /// Why the rules leave this row out, if they do.
  [[nodiscard]] std::optional<std::string> skip() const;
  /// What the rules make of `key`; what they say about it joins the assumptions.
  std::optional<std::string> take(std::string_view key);

  /// Id of the only chip in the catalogue that the row can mean; refuses otherwise.
  std::string chip();
  /// A whole number from 1 to 10^9 in a column; refuses otherwise.
  std::int64_t count(std::string_view column);
  std::int64_t count_or(std::string_view column, std::int64_t otherwise);
  /// A positive number in a column; refuses otherwise.
  double amount_of(std::string_view column);
  /// The same for a key of the rules; nothing where they say nothing.
  std::optional<double> amount(std::string_view key);
  Precision precision(std::string_view key);

  void refuse(std::string reason);
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  /// With the sentences of the rules that only assume.
  [[nodiscard]] std::vector<std::string> assumptions() const;

private:
  const CsvTable* table_;
  std::size_t row_;
  const ResolverRules* rules_;
  const Catalogue* catalogue_;
  std::vector<std::string> assumptions_;
  std::string refusal_;
};

/// Why the text of a cell is no number; empty when it is one, or when the cell is empty.
[[nodiscard]] std::string bad_number(std::string_view column, std::string_view text);

} // namespace clustersim
