#include "study/collective_evidence.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "study/collective_sweep.hpp"
#include "study/named_system.hpp"
#include "study/resolver_rules.hpp"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <omp.h>
#include <utility>

namespace clustersim {
namespace {

/// Rows that share all but their size are one question.
struct Question {
  std::string algorithm{automatic_choice};
  Seconds host;
  std::vector<std::string> says;
  std::vector<std::size_t> rows;
};

struct Context {
  const CsvTable* table;
  const ResolverRules* rules;
  const Shelf* shelf;
};

std::optional<CollectiveKind> kind_named(std::string_view name) {
  for (const CollectiveKind kind : all_collective_kinds) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

std::optional<Bytes> size_at(const CsvTable& table, std::size_t row) {
  const auto bytes = number_from(table.at(row, "bytes"));
  if (!bytes || !(*bytes > 0.0 && *bytes < 1e18)) return std::nullopt;
  return Bytes{*bytes};
}

std::string id_of(const CsvTable& table, std::size_t row) {
  const auto size = size_at(table, row);
  return fmt::format("{} {} {} {}", printable(table.at(row, "system")),
                     printable(table.at(row, "collective")), printable(table.at(row, "ranks")),
                     size ? format_binary(*size) : printable(table.at(row, "bytes")));
}

void settle(std::vector<CollectivePrediction>& all, const std::vector<std::size_t>& rows,
            RowStatus status, const std::string& reason) {
  for (const std::size_t row : rows) {
    all[row].status = status;
    all[row].reason = reason;
  }
}

void answer(const Context& context, const Question& question,
            std::vector<CollectivePrediction>& all) {
  const std::size_t first = question.rows.front();
  const auto kind = kind_named(context.table->at(first, "collective"));
  if (!kind) {
    settle(all, question.rows, RowStatus::skipped,
           fmt::format("no collective '{}'", printable(context.table->at(first, "collective"))));
    return;
  }
  std::string why;
  const auto system = named_system(*context.table, first, *context.rules, *context.shelf, why);
  if (!system) {
    settle(all, question.rows, RowStatus::skipped, why);
    return;
  }
  CollectiveQuestion asked{*kind,
                           static_cast<int>(*number_from(context.table->at(first, "ranks"))),
                           1,
                           question.algorithm,
                           {}};
  for (const std::size_t row : question.rows)
    asked.sizes.push_back(*size_at(*context.table, row));
  const auto sweep = sweep_collective(system->cluster, asked, why);
  if (!sweep) {
    settle(all, question.rows, RowStatus::skipped, why);
    return;
  }
  for (std::size_t i = 0; i < question.rows.size(); ++i) {
    CollectivePrediction& one = all[question.rows[i]];
    one.status = RowStatus::ok;
    one.seconds = (sweep->rows[i].time + question.host).si();
    one.assumptions = system->assumptions;
    one.assumptions.insert(one.assumptions.end(), question.says.begin(), question.says.end());
  }
}

/// Sorts the rows that can be asked into questions; the others get their reason at once.
std::vector<Question> questions_of(const Context& context, std::vector<CollectivePrediction>& all) {
  std::map<std::string, Question> questions;
  for (std::size_t row = 0; row < context.table->rows.size(); ++row) {
    all[row].id = id_of(*context.table, row);
    if (const auto skip = decide(*context.rules, "skip", *context.table, row)) {
      all[row].reason = skip->says;
      continue;
    }
    if (!size_at(*context.table, row)) {
      all[row].reason = "bytes is no size";
      continue;
    }
    Question asked;
    const auto take = [&](std::string_view key) {
      const auto decision = decide(*context.rules, key, *context.table, row);
      if (decision && !decision->says.empty()) asked.says.push_back(decision->says);
      return decision ? decision->value : std::string{};
    };
    UnitError ignored;
    asked.host = parse_quantity<Seconds>(take("host"), ignored).value_or(Seconds{});
    if (const std::string algorithm = take("algorithm"); !algorithm.empty()) {
      asked.algorithm = algorithm;
    }
    std::string key = asked.algorithm + '\n' + shortest(asked.host.si());
    for (const std::string_view column :
         {"system", "collective", "ranks", "nodes", "library", "condition"}) {
      key += '\n';
      key += context.table->at(row, column);
    }
    questions.try_emplace(key, std::move(asked)).first->second.rows.push_back(row);
  }
  std::vector<Question> list;
  list.reserve(questions.size());
  for (auto& [key, question] : questions)
    list.push_back(std::move(question));
  return list;
}

} // namespace

std::optional<std::vector<CollectivePrediction>> predict_collectives(const CsvTable& table,
                                                                     const Catalogue& catalogue,
                                                                     int threads,
                                                                     Diagnostics& out) {
  const auto rules = load_resolver_rules("collectives", catalogue, out);
  if (!rules) return std::nullopt;
  const Shelf shelf = load_shelf(catalogue);
  const Context context{&table, &*rules, &shelf};
  std::vector<CollectivePrediction> all(table.rows.size());
  const std::vector<Question> questions = questions_of(context, all);
  const int workers = threads > 0 ? threads : omp_get_max_threads();
  // Each question writes to the places of its own rows.
#pragma omp parallel for schedule(dynamic, 1) num_threads(workers)
  for (std::size_t i = 0; i < questions.size(); ++i) {
    try {
      answer(context, questions[i], all);
    } catch (const std::exception& error) {
      settle(all, questions[i].rows, RowStatus::failed, error.what());
    }
  }
  return all;
}

} // namespace clustersim
