#pragma once
// How a row of published evidence becomes a scenario is data: models/resolver/training-runs.csv.
//
//   key     a scenario key ("model.activation"), "node:KEY", "fabric:KEY", "chip:KEY" or
//           "stack:KEY" for a key of the chosen one, or one of the words below
//   when    conditions "column=glob|glob & column!=glob", all of which must hold; empty = always
//   value   what the key is set to; {column} stands for the row's text;
//           empty = the key is left out
//   says    the assumption that goes with it, {column} alike; empty when the row itself says so
//
// For each key the first rule holds whose conditions hold and whose value names no empty column.
// `skip` takes the row out of scoring and `says` gives the reason; `assume` only adds its sentence,
// and every such rule that holds does. Globs know '*' alone and are case-blind; an empty glob is an
// empty field.

#include "base/diagnostic.hpp"
#include "foreign/csv.hpp"
#include "spec/catalogue.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct RuleCondition {
  std::string column;
  std::vector<std::string> globs; // any of them
  bool negated = false;
};

struct ResolverRule {
  std::string key, value, says;
  std::vector<RuleCondition> when;
};

using ResolverRules = std::vector<ResolverRule>;

/// The first models/resolver/NAME.csv on the search path.
[[nodiscard]] std::optional<ResolverRules>
load_resolver_rules(std::string_view name, const Catalogue& catalogue, Diagnostics& out);
[[nodiscard]] std::optional<ResolverRules> parse_resolver_rules(const CsvTable& table,
                                                                Diagnostics& out);

[[nodiscard]] bool matches_glob(std::string_view text, std::string_view glob);

/// A rule applied to one row.
struct Decision {
  std::string value, says;
};

/// What the rules make of `key` for this row: the first that holds, or all of them.
[[nodiscard]] std::optional<Decision> decide(const ResolverRules& rules, std::string_view key,
                                             const CsvTable& table, std::size_t row);
[[nodiscard]] std::vector<Decision> decide_all(const ResolverRules& rules, std::string_view key,
                                               const CsvTable& table, std::size_t row);

/// `pattern` with each {column} replaced; nothing when such a column is empty in this row.
[[nodiscard]] std::optional<std::string> fill(std::string_view pattern, const CsvTable& table,
                                              std::size_t row);

/// Every key once, in order of first appearance.
[[nodiscard]] std::vector<std::string> keys_of(const ResolverRules& rules);

} // namespace clustersim
