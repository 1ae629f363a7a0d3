#include "study/resolver_rules.hpp"

#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace clustersim {
namespace {

constexpr std::string_view rules_directory = "models/resolver";

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::optional<RuleCondition> condition_from(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return std::nullopt;
  }
  RuleCondition condition;
  condition.negated = text[equals - 1] == '!';
  condition.column = trim(text.substr(0, condition.negated ? equals - 1 : equals));
  for (const std::string& glob : split(text.substr(equals + 1), '|')) {
    condition.globs.push_back(trim(glob));
  }
  if (condition.column.empty()) {
    return std::nullopt;
  }
  return condition;
}

bool holds(const RuleCondition& condition, const CsvTable& table, std::size_t row) {
  const std::string_view text = table.at(row, condition.column);
  const bool any = std::any_of(condition.globs.begin(), condition.globs.end(),
                               [&](const std::string& glob) { return matches_glob(text, glob); });
  return any != condition.negated;
}

bool holds(const ResolverRule& rule, const CsvTable& table, std::size_t row) {
  return std::all_of(
             rule.when.begin(), rule.when.end(),
             [&](const RuleCondition& condition) { return holds(condition, table, row); }) &&
         fill(rule.value, table, row).has_value();
}

void complain(const CsvTable& table, std::size_t line, std::string message, Diagnostics& out) {
  Diagnostic diagnostic;
  diagnostic.where = {table.path, line, line == 0 ? 0U : 1U};
  diagnostic.message = std::move(message);
  out.add(std::move(diagnostic));
}

} // namespace

bool matches_glob(std::string_view text, std::string_view glob) {
  // Greedy with one point of return: linear in practice, |text|·|glob| at worst.
  std::size_t t = 0, g = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = t;
    } else if (g < glob.size() && lower(glob[g]) == lower(text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') {
    ++g;
  }
  return g == glob.size();
}

std::optional<std::string> fill(std::string_view pattern, const CsvTable& table, std::size_t row) {
  std::string text;
  while (!pattern.empty()) {
    const std::size_t open = pattern.find('{');
    const std::size_t close = open == std::string_view::npos ? open : pattern.find('}', open);
    if (close == std::string_view::npos) {
      break;
    }
    const std::string_view field = table.at(row, pattern.substr(open + 1, close - open - 1));
    if (field.empty()) {
      return std::nullopt;
    }
    text += pattern.substr(0, open);
    text += field;
    pattern.remove_prefix(close + 1);
  }
  return text += pattern;
}

std::optional<Decision> decide(const ResolverRules& rules, std::string_view key,
                               const CsvTable& table, std::size_t row) {
  for (const ResolverRule& rule : rules) {
    if (rule.key == key && holds(rule, table, row)) {
      return Decision{*fill(rule.value, table, row),
                      fill(rule.says, table, row).value_or(rule.says)};
    }
  }
  return std::nullopt;
}

std::vector<Decision> decide_all(const ResolverRules& rules, std::string_view key,
                                 const CsvTable& table, std::size_t row) {
  std::vector<Decision> all;
  for (const ResolverRule& rule : rules) {
    if (rule.key == key && holds(rule, table, row)) {
      all.push_back(
          {*fill(rule.value, table, row), fill(rule.says, table, row).value_or(rule.says)});
    }
  }
  return all;
}

std::vector<std::string> keys_of(const ResolverRules& rules) {
  std::vector<std::string> keys;
  for (const ResolverRule& rule : rules) {
    if (std::find(keys.begin(), keys.end(), rule.key) == keys.end()) {
      keys.push_back(rule.key);
    }
  }
  return keys;
}

std::optional<ResolverRules> parse_resolver_rules(const CsvTable& table, Diagnostics& out) {
  for (const std::string_view column : {"key", "when", "value", "says"}) {
    if (!table.column(column)) {
      complain(table, 0, fmt::format("the rules have no column '{}'", column), out);
      return std::nullopt;
    }
  }
  ResolverRules rules;
  bool good = true;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    ResolverRule rule{std::string(table.at(row, "key")),
                      std::string(table.at(row, "value")),
                      std::string(table.at(row, "says")),
                      {}};
    const std::string_view when = table.at(row, "when");
    for (const std::string& text : when.empty() ? std::vector<std::string>{} : split(when, '&')) {
      std::optional<RuleCondition> condition = condition_from(trim(text));
      if (!condition) {
        complain(table, table.rows[row].line,
                 fmt::format("'{}' is no condition of the form column=glob", printable(text)), out);
        good = false;
        continue;
      }
      rule.when.push_back(std::move(*condition));
    }
    rules.push_back(std::move(rule));
  }
  return good ? std::optional{std::move(rules)} : std::nullopt;
}

std::optional<ResolverRules> load_resolver_rules(std::string_view name, const Catalogue& catalogue,
                                                 Diagnostics& out) {
  const std::string file = fmt::format("{}/{}.csv", rules_directory, name);
  for (const std::string& root : catalogue.roots()) {
    const std::filesystem::path path = std::filesystem::path(root) / file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      continue;
    }
    const std::optional<CsvTable> table = read_csv(path.string(), out);
    return table ? parse_resolver_rules(*table, out) : std::nullopt;
  }
  Diagnostic diagnostic;
  diagnostic.where.file = file;
  diagnostic.message = "no such file on the search path, so no row can be resolved";
  out.add(std::move(diagnostic));
  out.mark_io_failure();
  return std::nullopt;
}

} // namespace clustersim
