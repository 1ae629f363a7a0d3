#include "report/operator_rooflines.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv_writer.hpp"
#include "report/figures.hpp"
#include "report/json_writer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace clustersim {

namespace {

using Json = nlohmann::ordered_json;

OperatorPoint point_of(const Chip& chip, const OpRecord& op) {
  const KernelTime& kernel = op.each.kernel;
  OperatorPoint out{.block = op.block,
                    .name = op.name,
                    .calls = op.calls,
                    .each = op.each.device,
                    .all = total_time(op),
                    .intensity = {},
                    .rate = {},
                    .bandwidth = {},
                    .share = 0.0,
                    .limit = std::string{name_of(kernel.binding)}};
  if (op.each.device <= Seconds{}) return out;
  if (kernel.traffic > Bytes{}) out.intensity = kernel.flops / kernel.traffic;
  out.rate = kernel.flops / op.each.device;
  out.bandwidth = kernel.traffic / op.each.device;
  const Seconds at_bandwidth = kernel.traffic / chip.memory.bandwidth;
  const Seconds at_peak = kernel.peak > FlopsPerSecond{} ? kernel.flops / kernel.peak : Seconds{};
  out.share = std::max(at_bandwidth, at_peak) / op.each.device;
  return out;
}

} // namespace

std::vector<OperatorPoint> operator_points(const Chip& chip, const Timeline& timeline) {
  std::vector<OperatorPoint> out;
  for (const OpRecord& op : timeline.ops) {
    if (!op.axis && op.each.device > Seconds{}) out.push_back(point_of(chip, op));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const OperatorPoint& a, const OperatorPoint& b) { return a.all > b.all; });
  return out;
}

std::string operator_roofline_section(std::string_view title, const Chip& chip,
                                      const Timeline& timeline, TextStyle style) {
  constexpr std::size_t brief_rows = 10;
  std::vector<std::vector<std::string>> rows;
  const std::vector<OperatorPoint> points = operator_points(chip, timeline);
  for (const OperatorPoint& one : points) {
    if (style.detail != Detail::full && rows.size() == brief_rows) break;
    rows.push_back({format_quantity(one.all, 3), grouped(one.calls),
                    fmt::format("{:.3g}", one.intensity.si()),
                    fmt::format("{:.3g}", one.rate.si() / 1e12),
                    fmt::format("{:.3g}", one.bandwidth.si() / 1e9), percent(one.share), one.limit,
                    fmt::format("{}: {}", one.block, one.name)});
  }
  std::string out = "\n" + paint(Ink::bold, title, style) + "\n" +
                    table({{"in all", Align::right},
                           {"calls", Align::right},
                           {"FLOP/B", Align::right},
                           {"TFLOP/s", Align::right},
                           {"GB/s", Align::right},
                           {"of roof", Align::right},
                           {"limit"},
                           {"operator"}},
                          rows, style);
  if (points.size() > rows.size()) {
    out += paint(Ink::dim, fmt::format("  {} more with -v", points.size() - rows.size()), style) +
           "\n";
  }
  return out;
}

std::string render_operators_json(const Chip& chip, const std::vector<NamedTimeline>& timelines,
                                  std::string_view version) {
  Json out{{"schema", "clustersim.operators/1"}, {"version", version}, {"chip", chip.id}};
  out["memory_bandwidth_bytes_per_s"] = chip.memory.bandwidth.si();
  out["timelines"] = Json::array();
  for (const NamedTimeline& one : timelines) {
    Json rows = Json::array();
    for (const OperatorPoint& point : operator_points(chip, *one.timeline)) {
      rows.push_back({{"block", point.block},
                      {"name", point.name},
                      {"calls", point.calls},
                      {"each_s", point.each.si()},
                      {"total_s", point.all.si()},
                      {"intensity_flops_per_byte", point.intensity.si()},
                      {"flops_per_s", point.rate.si()},
                      {"bytes_per_s", point.bandwidth.si()},
                      {"share_of_roof", point.share},
                      {"limit", point.limit}});
    }
    out["timelines"].push_back({{"name", one.name}, {"rows", std::move(rows)}});
  }
  return to_text(out);
}

std::string render_operators_csv(const Chip& chip, const std::vector<NamedTimeline>& timelines) {
  std::string out =
      csv_line({"timeline", "block", "operator", "calls", "each_s", "total_s", "flops_per_byte",
                "flops_per_s", "bytes_per_s", "share_of_roof", "limit"});
  for (const NamedTimeline& one : timelines) {
    for (const OperatorPoint& point : operator_points(chip, *one.timeline)) {
      out += csv_line({one.name, point.block, point.name, std::to_string(point.calls),
                       shortest(point.each.si()), shortest(point.all.si()),
                       shortest(point.intensity.si()), shortest(point.rate.si()),
                       shortest(point.bandwidth.si()), shortest(point.share), point.limit});
    }
  }
  return out;
}

} // namespace clustersim
