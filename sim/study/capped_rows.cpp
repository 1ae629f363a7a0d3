#include "study/capped_rows.hpp"

#include "base/text.hpp"
#include "study/row_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace clustersim {
namespace {

/// The uncapped reading of each workload on each chip, by "chip, workload".
using References = std::map<std::pair<std::string, std::string>, std::size_t>;

std::pair<std::string, std::string> key_of(RowReader row) {
  return {std::string(row.text("chip")),
          row.take("workload").value_or(std::string(row.text("workload")))};
}

bool has_performance(const CsvTable& table, std::size_t row) {
  return number_from(table.at(row, "perf")) || number_from(table.at(row, "rel_perf"));
}

References references_of(const CsvTable& table, const ResolverRules& rules,
                         const Catalogue& catalogue) {
  References references;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::optional<double> cap = number_from(table.at(row, "power_cap_w"));
    RowReader reader(table, row, rules, catalogue);
    if (!cap || !has_performance(table, row) || reader.skip()) {
      continue;
    }
    const auto [entry, fresh] = references.try_emplace(key_of(reader), row);
    if (!fresh && *cap > *number_from(table.at(entry->second, "power_cap_w"))) {
      entry->second = row;
    }
  }
  return references;
}

/// Of the reference: what the file states, else the ratio of both readings.
double relative_performance(RowReader& row, RowReader& reference) {
  if (!row.text("rel_perf").empty()) {
    return row.amount_of("rel_perf");
  }
  const double own = row.amount_of("perf"), other = reference.amount_of("perf");
  return row.take("lower_is_better") == "true" ? other / own : own / other;
}

void read(KernelRow& result, RowReader& row, RowReader reference) {
  MeasuredKernel kernel;
  kernel.row = row.index();
  kernel.chip = row.chip();
  CappedWorkload work{Watts{row.amount_of("power_cap_w")}, {}, {}, 1.0};
  work.core_share = std::min(1.0, row.amount("core_share").value_or(1.0));
  if (reference.index() != row.index()) {
    work.limit = Watts{reference.amount_of("power_cap_w")};
    if (const std::optional<double> drawn = reference.amount("drawn_w")) {
      work.drawn = Watts{*drawn};
    } else if (!reference.text("avg_power_w").empty()) {
      work.drawn = Watts{reference.amount_of("avg_power_w")};
    }
  } else if (row.text("rel_perf").empty() || row.text("rel_perf") == "1.0") {
    row.refuse("an uncapped reading: others are compared with it");
  } else if (const std::optional<double> limit = row.amount("limit_w")) {
    work.limit = Watts{*limit};
  }
  kernel.work = {work};
  kernel.measured = relative_performance(row, reference);
  kernel.assumptions = row.assumptions();
  if (!work.drawn) {
    kernel.assumptions.emplace_back(
        "uncapped, the workload draws what a large product does on this board");
  }
  result.reason = row.refusal().empty() ? reference.refusal() : row.refusal();
  if (result.reason.empty()) {
    result.kernel = std::move(kernel);
  }
}

} // namespace

std::vector<KernelRow> capped_rows(const CsvTable& table, const ResolverRules& rules,
                                   const Catalogue& catalogue) {
  const References references = references_of(table, rules, catalogue);
  std::vector<KernelRow> rows;
  for (std::size_t index = 0; index < table.rows.size(); ++index) {
    RowReader row(table, index, rules, catalogue);
    KernelRow result;
    result.id = printable(row.take("id").value_or(std::string(row.text("workload"))));
    result.chip = printable(row.text("chip"));
    result.precision = row.take("precision").value_or("");
    const auto reference = references.find(key_of(row));
    if (const std::optional<std::string> skip = row.skip()) {
      result.reason = *skip;
    } else if (!has_performance(table, index) || reference == references.end()) {
      const std::string slip = bad_number("perf", row.text("perf"));
      result.reason = slip.empty() ? "no performance under a cap is measured" : slip;
    } else {
      read(result, row, {table, reference->second, rules, catalogue});
    }
    rows.push_back(std::move(result));
  }
  return rows;
}

} // namespace clustersim
