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

std::string rows_table(const ValidatedFile& file, TextStyle style) {
  std::vector<std::vector<std::string>> rows;
  for (const ValidatedRow& row : file.rows) {
    if (row.status == RowStatus::skipped && style.detail != Detail::full) {
      continue;
    }
    const bool ok = row.status == RowStatus::ok && row.ratio;
    const double error = ok ? (*row.ratio - 1.0) * 100.0 : 0.0;
    rows.push_back({std::to_string(row.index), elide(printable(row.id), 34, style),
                    printable(row.quantity), number(row.predicted), number(row.measured), row.unit,
                    ok ? paint(ink_of(error), fmt::format("{:+.1f} %", error), style)
                       : std::string{name_of(row.status)} + ": " + printable(row.reason)});
  }
  if (rows.empty()) {
    return "";
  }
  return table({{"row", Align::right},
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

std::string groups_section(const ValidationReport& report, TextStyle style) {
  std::string out, by;
  std::vector<std::vector<std::string>> rows;
  const auto flush = [&] {
    if (!rows.empty()) {
      out += "\n" + table(figures_columns("by " + by), rows, style);
    }
    rows.clear();
  };
  for (const ErrorGroup& group : report.groups) {
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
  for (const ValidatedFile& file : report.files) {
    out += paint(Ink::bold, fmt::format("{}: {}", printable(file.path), file.kind), style) + "\n";
    if (style.detail != Detail::brief) {
      out += rows_table(file, style);
    }
    out += skipped_lines(file, style) + "\n";
  }
  if (style.detail != Detail::brief) {
    out += groups_section(report, style);
  }
  std::vector<std::vector<std::string>> rows;
  for (const QuantitySummary& summary : report.summary) {
    rows.push_back(figures_row("all together", summary.quantity, summary.figures, style));
  }
  out += "\n" + table(figures_columns(""), rows, style);
  return out;
}

} // namespace clustersim
