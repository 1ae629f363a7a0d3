#include "report/validation.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace clustersim {
namespace {

std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "";
}

std::string in_percent(const std::optional<double>& value, bool with_sign = false) {
  return !value      ? "-"
         : with_sign ? fmt::format("{:+.1f} %", *value)
                     : fmt::format("{:.1f} %", *value);
}

/// Calm below 10 %, which is the noise of published runs; loud above 25 %.
Ink ink_of(double error) {
  return std::fabs(error) <= 10.0 ? Ink::good : std::fabs(error) <= 25.0 ? Ink::caution : Ink::bad;
}

/// Longer tables show their worst rows alone, unless every row is asked for.
constexpr std::size_t most_rows = 400, worst_rows = 20;

double error_of(const ValidatedRow& row) {
  return row.status == RowStatus::ok && row.ratio ? (*row.ratio - 1.0) * 100.0 : 0.0;
}

std::vector<std::string> row_cells(const ValidatedRow& row, TextStyle style) {
  const bool ok = row.status == RowStatus::ok && row.ratio;
  const double error = error_of(row);
  return {std::to_string(row.index),
          elide(printable(row.id), 34, style),
          printable(row.quantity),
          number(row.predicted),
          number(row.measured),
          row.unit,
          ok ? paint(ink_of(error), fmt::format("{:+.1f} %", error), style)
             : std::string{name_of(row.status)} + ": " + printable(row.reason)};
}

/// Those that failed first, then by the size of the error.
void keep_worst(std::vector<const ValidatedRow*>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const ValidatedRow* a, const ValidatedRow* b) {
    const bool a_failed = a->status == RowStatus::failed, b_failed = b->status == RowStatus::failed;
    return a_failed != b_failed ? a_failed : std::fabs(error_of(*a)) > std::fabs(error_of(*b));
  });
  rows.resize(worst_rows);
}

std::string rows_table(const ValidatedFile& file, TextStyle style) {
  std::vector<const ValidatedRow*> shown;
  for (const ValidatedRow& row : file.rows) {
    if (row.status != RowStatus::skipped || style.detail == Detail::full) {
      shown.push_back(&row);
    }
  }
  if (shown.empty()) {
    return "";
  }
  std::string head;
  if (shown.size() > most_rows && style.detail != Detail::full) {
    head = fmt::format("  the worst {} of {} rows; -v shows all\n", worst_rows,
                       grouped(static_cast<std::int64_t>(shown.size())));
    keep_worst(shown);
  }
  std::vector<std::vector<std::string>> rows;
  for (const ValidatedRow* row : shown) {
    rows.push_back(row_cells(*row, style));
  }
  return head + table({{"row", Align::right},
                       {"id"},
                       {"quantity"},
                       {"predicted", Align::right},
                       {"measured", Align::right},
                       {"unit"},
                       {"error"}},
                      rows, style);
}

/// How many rows were left out, and why, most frequent first.
std::string skipped_lines(const ValidatedFile& file, TextStyle style) {
  std::map<std::string, std::int64_t> reasons;
  for (const ValidatedRow& row : file.rows) {
    reasons[row.reason] += row.status == RowStatus::skipped ? 1 : 0;
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(reasons.begin(), reasons.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string out;
  for (const auto& [reason, count] : sorted) {
    if (count > 0) {
      out += paint(Ink::dim, hanging(pad_left(grouped(count), 6) + " skipped: ", printable(reason)),
                   style);
    }
  }
  return out;
}

std::vector<std::string> figures_row(std::string name, const std::string& quantity,
                                     const ErrorFigures& figures, TextStyle style) {
  const Ink ink = figures.mape ? ink_of(*figures.mape) : Ink::plain;
  return {std::move(name),
          quantity,
          grouped(figures.rows),
          grouped(figures.scored()),
          grouped(figures.failed),
          grouped(figures.skipped),
          paint(ink, in_percent(figures.mape), style),
          in_percent(figures.median_ape),
          in_percent(figures.bias, true),
          in_percent(figures.p90_ape)};
}

std::vector<Column> figures_columns(std::string first) {
  return {{std::move(first)},       {"quantity"},
          {"rows", Align::right},   {"scored", Align::right},
          {"failed", Align::right}, {"skipped", Align::right},
          {"MAPE", Align::right},   {"median", Align::right},
          {"bias", Align::right},   {"p90", Align::right}};
}

std::string groups_section(const std::vector<ErrorGroup>& groups, TextStyle style) {
  std::string out, by;
  std::vector<std::vector<std::string>> rows;
  const auto flush = [&] {
    if (!rows.empty()) {
      out += "\n" + table(figures_columns("by " + by), rows, style);
    }
    rows.clear();
  };
  for (const ErrorGroup& group : groups) {
    if (group.by != by) {
      flush();
      by = group.by;
    }
    if (group.figures.scored() > 0 || style.detail == Detail::full) {
      rows.push_back(figures_row(elide(printable(group.name), 30, style), group.quantity,
                                 group.figures, style));
    }
  }
  flush();
  return out;
}

} // namespace

std::string render_validate_text(const ValidationReport& report, TextStyle style) {
  std::string out;
  std::vector<std::vector<std::string>> rows;
  for (const ValidatedFile& file : report.files) {
    out += paint(Ink::bold, fmt::format("{}: {}", printable(file.path), file.kind), style) + "\n";
    if (style.detail != Detail::brief) {
      out += rows_table(file, style);
    }
    out += skipped_lines(file, style);
    if (style.detail != Detail::brief) {
      out += groups_section(file.groups, style);
    }
    out += "\n";
    for (const QuantitySummary& summary : file.summary) {
      rows.push_back(figures_row(file.kind, summary.quantity, summary.figures, style));
    }
  }
  if (report.files.size() > 1) {
    for (const QuantitySummary& summary : report.summary) {
      rows.push_back(figures_row("all together", summary.quantity, summary.figures, style));
    }
  }
  return out + table(figures_columns(""), rows, style);
}

} // namespace clustersim
