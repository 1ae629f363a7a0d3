#include "study/error_figures.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace clustersim {
namespace {

constexpr double percent = 100.0;

struct Grouping {
  std::string_view by;
  std::string RowLabels::*label;
};

constexpr std::array<Grouping, 11> groupings{{{"source", &RowLabels::source},
                                              {"chip", &RowLabels::chip},
                                              {"precision", &RowLabels::precision},
                                              {"library", &RowLabels::library},
                                              {"condition", &RowLabels::condition},
                                              {"size", &RowLabels::size},
                                              {"stack", &RowLabels::stack},
                                              {"scale", &RowLabels::scale},
                                              {"core", &RowLabels::core},
                                              {"system", &RowLabels::system},
                                              {"work", &RowLabels::work}}};

constexpr std::array<std::string_view, 5> scales{"1", "2-8", "9-64", "65-512", "> 512"};
constexpr std::array<double, 4> scale_ends{1, 8, 64, 512};

constexpr std::array<std::string_view, 3> sizes{"< 64 KiB", "64 KiB - 64 MiB", ">= 64 MiB"};
constexpr std::array<double, 2> size_starts{65536, 67108864};

/// Scales and sizes read in their order, everything else in the order of the alphabet.
std::size_t rank_of(std::string_view by, const std::string& name) {
  if (by == "size") {
    return static_cast<std::size_t>(std::find(sizes.begin(), sizes.end(), name) - sizes.begin());
  }
  return by == "scale" ? static_cast<std::size_t>(std::find(scales.begin(), scales.end(), name) -
                                                  scales.begin())
                       : 0;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

} // namespace

std::string_view name_of(RowStatus status) {
  switch (status) {
  case RowStatus::ok:
    return "ok";
  case RowStatus::failed:
    return "failed";
  case RowStatus::skipped:
    return "skipped";
  }
  throw Bug("row status out of range");
}

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) {
    throw Bug("quantile of nothing");
  }
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

std::string_view scale_of(double chips) {
  std::size_t bucket = 0;
  while (bucket < scale_ends.size() && chips > scale_ends[bucket]) {
    ++bucket;
  }
  return scales[bucket];
}

std::string_view size_of(Bytes bytes) {
  std::size_t bucket = 0;
  while (bucket < size_starts.size() && bytes.si() >= size_starts[bucket]) {
    ++bucket;
  }
  return sizes[bucket];
}

ErrorFigures error_figures(const std::vector<const ValidatedRow*>& rows) {
  ErrorFigures figures;
  std::vector<double> errors, magnitudes;
  std::int64_t ranged = 0, inside = 0;
  for (const ValidatedRow* row : rows) {
    ++figures.rows;
    figures.failed += row->status == RowStatus::failed ? 1 : 0;
    figures.skipped += row->status == RowStatus::skipped ? 1 : 0;
    if (row->status != RowStatus::ok || !row->ratio) {
      continue;
    }
    errors.push_back(percent * (*row->ratio - 1.0));
    magnitudes.push_back(std::abs(errors.back()));
    if (row->low && row->high && row->measured) {
      ++ranged;
      inside += *row->low <= *row->measured && *row->measured <= *row->high ? 1 : 0;
    }
  }
  if (errors.empty()) {
    return figures;
  }
  std::sort(magnitudes.begin(), magnitudes.end());
  figures.mape = mean(magnitudes);
  figures.bias = mean(errors);
  figures.median_ape = quantile(magnitudes, 0.5);
  figures.p90_ape = quantile(magnitudes, 0.9);
  if (ranged > 0) {
    figures.in_range = percent * static_cast<double>(inside) / static_cast<double>(ranged);
  }
  return figures;
}

namespace {

using Rows = std::vector<const ValidatedRow*>;

Rows rows_of(const ValidatedFile& file) {
  Rows rows;
  for (const ValidatedRow& row : file.rows) {
    rows.push_back(&row);
  }
  return rows;
}

void add_groups(const Grouping& grouping, const std::string& quantity, const Rows& rows,
                std::vector<ErrorGroup>& groups) {
  std::map<std::pair<std::size_t, std::string>, Rows> by_name;
  for (const ValidatedRow* row : rows) {
    const std::string& name = row->labels.*grouping.label;
    if (!name.empty()) {
      by_name[{rank_of(grouping.by, name), name}].push_back(row);
    }
  }
  for (const auto& [key, members] : by_name) {
    groups.push_back({std::string(grouping.by), key.second, quantity, error_figures(members)});
  }
}

void summarise_rows(const Rows& rows, std::vector<QuantitySummary>& summary,
                    std::vector<ErrorGroup>& groups) {
  std::map<std::string, Rows> by_quantity;
  for (const ValidatedRow* row : rows) {
    by_quantity[row->quantity].push_back(row);
  }
  for (const auto& [quantity, members] : by_quantity) {
    summary.push_back({quantity, error_figures(members)});
  }
  for (const Grouping& grouping : groupings) {
    for (const auto& [quantity, members] : by_quantity) {
      add_groups(grouping, quantity, members, groups);
    }
  }
}

} // namespace

void summarise(ValidationReport& report) {
  Rows all;
  for (ValidatedFile& file : report.files) {
    const Rows rows = rows_of(file);
    summarise_rows(rows, file.summary, file.groups);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  summarise_rows(all, report.summary, report.groups);
}

} // namespace clustersim
