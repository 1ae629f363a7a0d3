#include "report/sweep.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(std::string_view metric, double value) {
  if (metric == "step_time") return format_quantity(Seconds{value});
  if (metric == "memory") return format_binary(Bytes{value});
  if (metric == "energy") return format_quantity(Joules{value});
  if (metric == "flops_per_chip") return format_quantity(FlopsPerSecond{value});
  if (metric == "mfu" || metric == "hfu") return percent(value);
  return grouped(value);
}

/// What a list shows beside the chosen metric.
std::vector<std::size_t> listed(std::size_t metric) {
  std::vector<std::size_t> out{metric};
  for (std::size_t i = 0; i < sweep_metrics.size(); ++i) {
    const std::string_view name = sweep_metrics.at(i).name;
    const bool usual =
        name == "step_time" || name == "mfu" || name == "tokens_per_s" || name == "memory";
    if (usual && i != metric) out.push_back(i);
  }
  return out;
}

std::string list_text(const Sweep& sweep, std::size_t metric, TextStyle style) {
  std::vector<Column> heads;
  for (const SweepAxis& axis : sweep.axes)
    heads.push_back({printable(axis.key), Align::right});
  const std::vector<std::size_t> shown = listed(metric);
  for (const std::size_t i : shown)
    heads.push_back({std::string{sweep_metrics.at(i).title}, Align::right});
  std::vector<std::vector<std::string>> rows;
  for (const SweepPoint& point : sweep.points) {
    std::vector<std::string> row;
    for (const std::string& value : point.values)
      row.push_back(printable(value));
    for (const std::size_t i : shown)
      row.push_back(sweep_cell(point, i));
    rows.push_back(std::move(row));
  }
  return table(heads, rows, style);
}

/// Rows by the first key, columns by the second.
std::string matrix_text(const Sweep& sweep, std::size_t metric, TextStyle style) {
  const std::vector<std::string>& across = sweep.axes[1].values;
  std::vector<Column> heads{{printable(sweep.axes[0].key)}};
  for (const std::string& value : across)
    heads.push_back({printable(value), Align::right});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < sweep.axes[0].values.size(); ++i) {
    std::vector<std::string> row{printable(sweep.axes[0].values[i])};
    for (std::size_t j = 0; j < across.size(); ++j)
      row.push_back(sweep_cell(sweep.points[i * across.size() + j], metric));
    rows.push_back(std::move(row));
  }
  return fmt::format("  {} across\n", printable(sweep.axes[1].key)) + table(heads, rows, style);
}

bool fits_the_page(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [n = std::size_t{0}](char c) mutable {
    n = c == '\n' ? 0 : n + 1;
    return n <= page_width;
  });
}

/// Why points have no result: each reason once, with how many and the first of them.
std::string reasons_text(const Sweep& sweep, TextStyle style) {
  std::map<std::string, std::pair<std::int64_t, const SweepPoint*>> reasons;
  for (const SweepPoint& point : sweep.points) {
    if (point.status != PointStatus::refused) continue;
    auto& [count, first] = reasons[point.reason];
    if (count++ == 0) first = &point;
  }
  std::string out;
  constexpr std::size_t most = 5;
  for (const auto& [reason, where] : reasons) {
    std::string at;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a)
      at += fmt::format("{}{}={}", a == 0 ? "" : " ", sweep.axes[a].key, where.second->values[a]);
    const std::string more = where.first > 1 ? fmt::format(" and {} more", where.first - 1) : "";
    out += paint(Ink::dim, hanging("  n/a  ", printable(fmt::format("{}{}: {}", at, more, reason))),
                 style);
    if (static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n')) > 2 * most) {
      return out + "  more reasons in the CSV and JSON\n";
    }
  }
  return out;
}

} // namespace

std::string sweep_cell(const SweepPoint& point, std::size_t metric) {
  const auto& value = point.results.at(metric);
  return value ? text_of(sweep_metrics.at(metric).name, *value)
               : std::string{name_of(point.status)};
}

std::string render_sweep_text(const Sweep& sweep, std::size_t metric, TextStyle style) {
  const std::string title = fmt::format(
      "{}: {} at {} points", sweep.title.empty() ? "sweep" : printable(sweep.title),
      sweep_metrics.at(metric).title, grouped(static_cast<std::int64_t>(sweep.points.size())));
  std::string out = paint(Ink::bold, elide(title, page_width, style), style) + "\n\n";
  std::string matrix = sweep.axes.size() == 2 ? matrix_text(sweep, metric, style) : "";
  out += matrix.empty() || !fits_the_page(matrix) ? list_text(sweep, metric, style) : matrix;
  const std::string reasons = reasons_text(sweep, style);
  return reasons.empty() ? out : out + "\n" + reasons;
}

std::string render_sweep_csv(const Sweep& sweep) {
  std::vector<std::string> head;
  for (const SweepAxis& axis : sweep.axes)
    head.push_back(axis.key);
  head.insert(head.end(), {"status", "reason", "inputs"});
  for (const SweepMetric& metric : sweep_metrics)
    head.emplace_back(metric.column);
  std::string out = csv_line(head);
  for (const SweepPoint& point : sweep.points) {
    if (point.status == PointStatus::missing) continue;
    std::vector<std::string> row = point.values;
    row.insert(row.end(),
               {std::string{name_of(point.status)}, printable(point.reason), point.inputs});
    for (const auto& value : point.results)
      row.push_back(value ? shortest(*value) : "");
    out += csv_line(row);
  }
  return out;
}

std::string render_sweep_json(const Sweep& sweep, std::string_view version) {
  Json out{{"schema", "clustersim.sweep/1"}, {"version", version}};
  out["vary"] = Json::array();
  for (const SweepAxis& axis : sweep.axes)
    out["vary"].push_back({{"key", axis.key}, {"values", axis.values}});
  out["points"] = Json::array();
  for (const SweepPoint& point : sweep.points) {
    if (point.status == PointStatus::missing) continue;
    Json row = Json::object();
    for (std::size_t a = 0; a < sweep.axes.size(); ++a)
      row[sweep.axes[a].key] = point.values[a];
    row["status"] = name_of(point.status);
    row["reason"] = printable(point.reason);
    row["inputs"] = point.inputs;
    for (std::size_t i = 0; i < sweep_metrics.size(); ++i)
      row[std::string{sweep_metrics.at(i).column}] = number_or_null<Json>(point.results.at(i));
    out["points"].push_back(std::move(row));
  }
  return to_text(out);
}

} // namespace clustersim
