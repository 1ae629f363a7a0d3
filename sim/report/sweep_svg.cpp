#include "base/bug.hpp"
#include "base/text.hpp"
#include "report/svg.hpp"
#include "report/sweep.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace clustersim {
namespace {

std::string title_of(const Sweep& sweep, std::size_t metric) {
  std::string keys;
  for (const SweepAxis& axis : sweep.axes)
    keys += (keys.empty() ? "" : " and ") + axis.key;
  return fmt::format("{} by {}", sweep_metrics.at(metric).title, keys);
}

/// Least and greatest result.
std::optional<std::pair<double, double>> extent(const Sweep& sweep, std::size_t metric) {
  std::optional<std::pair<double, double>> out;
  for (const SweepPoint& point : sweep.points) {
    if (const auto& value = point.results.at(metric)) {
      out = out ? std::pair{std::min(out->first, *value), std::max(out->second, *value)}
                : std::pair{*value, *value};
    }
  }
  return out;
}

std::string tooltip(const Sweep& sweep, const SweepPoint& point, std::size_t metric) {
  std::string out;
  for (std::size_t a = 0; a < sweep.axes.size(); ++a)
    out += fmt::format("{}={} ", sweep.axes[a].key, point.values[a]);
  out += sweep_cell(point, metric);
  return point.reason.empty() ? out : out + ": " + point.reason;
}

double widest(const std::vector<std::string>& texts) {
  constexpr double letter = 6.8; // of the 12 px face, on average
  std::size_t most = 3;
  for (const std::string& text : texts)
    most = std::max(most, columns_of(printable(text)));
  return letter * static_cast<double>(most);
}

/// Points a step apart, the ordinate from 0. Where there is no result the line is broken and a word
/// stands on the axis.
std::string line_svg(const Sweep& sweep, std::size_t metric) {
  const auto range = extent(sweep, metric);
  const double top = range && range->second > 0 ? range->second : 1.0;
  const std::size_t count = sweep.points.size();
  const double step = std::max(64.0, widest(sweep.axes[0].values) + 14);
  constexpr double left = 30, above = 70, height = 260;
  const double base = above + height;
  const double width = 2 * left + step * static_cast<double>(count);
  SvgWriter svg(std::max(width, 420.0), base + 62, title_of(sweep, metric), sweep.title);
  svg.text({left, 28}, title_of(sweep, metric), "title");
  svg.text({left, 46}, sweep.title, "dim small");
  svg.rectangle({left, above, step * static_cast<double>(count), height}, 4, "panel");
  std::string data;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& value = sweep.points[i].results.at(metric);
    const double x = left + step * (static_cast<double>(i) + 0.5);
    const bool joined = i > 0 && sweep.points[i - 1].results.at(metric).has_value();
    if (value)
      data += fmt::format("{}{} {}", joined ? "L" : "M", svg_number(x),
                          svg_number(base - (height - 30) * *value / top));
  }
  if (!data.empty()) svg.path(data, 2, "wire load3");
  for (std::size_t i = 0; i < count; ++i) {
    const SweepPoint& point = sweep.points[i];
    const auto& value = point.results.at(metric);
    const double x = left + step * (static_cast<double>(i) + 0.5);
    const double y = value ? base - (height - 30) * *value / top : base - 2;
    svg.open("", tooltip(sweep, point, metric));
    if (value) svg.rectangle({x - 3.5, y - 3.5, 7, 7}, 3.5, "load3");
    svg.text({x, y - 9}, sweep_cell(point, metric), value ? "small middle" : "small middle dim");
    svg.close();
    svg.text({x, base + 18}, point.values[0], "middle");
  }
  svg.text({left + step * static_cast<double>(count) / 2, base + 42}, sweep.axes[0].key,
           "middle strong");
  return svg.finish();
}

/// Five shades from the least to the greatest result.
std::size_t shade(double value, const std::pair<double, double>& range) {
  const double span = range.second - range.first;
  if (span <= 0) return 0;
  const double at = (value - range.first) / span * svg_load_steps;
  return std::min(static_cast<std::size_t>(std::max(at, 0.0)), std::size_t{svg_load_steps - 1});
}

/// A cell's text stands on a band of paper, so that it can be read on every shade, light or dark.
std::string heat_svg(const Sweep& sweep, std::size_t metric) {
  const auto range = extent(sweep, metric);
  const std::vector<std::string>&down = sweep.axes[0].values, &across = sweep.axes[1].values;
  std::vector<std::string> cells = across;
  for (const SweepPoint& point : sweep.points)
    cells.push_back(sweep_cell(point, metric));
  const double cell = widest(cells) + 24, row = 38, above = 106;
  const double left = std::max(widest(down), widest({sweep.axes[0].key})) + 44;
  const double bottom = above + row * static_cast<double>(down.size());
  const double right = left + cell * static_cast<double>(across.size());
  SvgWriter svg(std::max(right + 30, 420.0), bottom + 30, title_of(sweep, metric), sweep.title);
  svg.text({24, 28}, title_of(sweep, metric), "title");
  svg.text({24, 46}, sweep.title, "dim small");
  svg.text({(left + right) / 2, above - 30}, sweep.axes[1].key, "middle strong");
  svg.text({left - 12, above - 10}, sweep.axes[0].key, "end strong");
  for (std::size_t j = 0; j < across.size(); ++j)
    svg.text({left + cell * (static_cast<double>(j) + 0.5), above - 10}, across[j], "middle");
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    const double x = left + cell * static_cast<double>(i % across.size());
    const std::size_t line = i / across.size();
    const double y = above + row * static_cast<double>(line);
    if (i % across.size() == 0) svg.text({left - 12, y + row / 2 + 4}, down[line], "end");
    const auto& value = point.results.at(metric);
    svg.open("", tooltip(sweep, point, metric));
    svg.rectangle({x + 1, y + 1, cell - 2, row - 2}, 3,
                  value && range ? fmt::format("load{}", shade(*value, *range)) : "panel");
    if (value) svg.rectangle({x + 8, y + 9, cell - 16, row - 18}, 3, "paper");
    svg.text({x + cell / 2, y + row / 2 + 4}, sweep_cell(point, metric),
             value ? "middle" : "middle dim");
    svg.close();
  }
  return svg.finish();
}

} // namespace

std::string render_sweep_svg(const Sweep& sweep, std::size_t metric) {
  if (sweep.axes.size() == 1) return line_svg(sweep, metric);
  if (sweep.axes.size() == 2) return heat_svg(sweep, metric);
  throw Bug("a picture of a sweep of neither one key nor two");
}

} // namespace clustersim
