#include "report/roofline.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "law/roofline.hpp"
#include "report/log_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t screen_lines = 24;

/// A line of the plot and what the legend says of it.
struct Series {
  std::string label;
  FlopsPerSecond peak;
  BytesPerSecond bandwidth;
};

std::string intensity(FlopsPerByte value) {
  return fmt::format("{:.4g}", value.si());
}

std::string table_of(const Roofline& chip, TextStyle style) {
  std::vector<Column> columns{{"precision"}, {"units"}, {"dense peak", Align::right}};
  for (const MemoryRoof& memory : chip.memory) {
    columns.push_back(
        {fmt::format("ridge, {} {}", printable(memory.level), format_quantity(memory.bandwidth)),
         Align::right});
  }
  std::vector<std::vector<std::string>> rows;
  for (const ComputeRoof& roof : chip.compute) {
    std::vector<std::string> row{std::string{name_of(roof.precision)}, roof.units,
                                 format_quantity(roof.peak)};
    for (const FlopsPerByte ridge : roof.ridges) {
      row.push_back(intensity(ridge) + " FLOP/B");
    }
    rows.push_back(std::move(row));
  }
  return paint(Ink::bold, printable(chip.name), style) + "\n" + table(columns, rows, style);
}

/// One chip: every ceiling over its DRAM, equal ones together, and the L2 slope under the highest.
std::vector<Series> series_of_one(const Roofline& chip) {
  std::vector<Series> out;
  const MemoryRoof& dram = chip.memory.front();
  for (const ComputeRoof& roof : chip.compute) {
    const std::string name = std::string{name_of(roof.precision)};
    if (!out.empty() && out.back().peak == roof.peak) {
      out.back().label += fmt::format(", {} {}", name, roof.units);
    } else {
      out.push_back({fmt::format("{} {}", name, roof.units), roof.peak, dram.bandwidth});
    }
  }
  for (std::size_t i = 1; i < chip.memory.size(); ++i) {
    out.push_back({fmt::format("from {}", chip.memory[i].level), chip.compute.front().peak,
                   chip.memory[i].bandwidth});
  }
  return out;
}

/// Several chips: each with the fastest of its matrix roofs at a precision that all of them have.
std::vector<Series> series_of_many(const std::vector<Roofline>& chips, std::string& basis) {
  const auto roof_at = [](const Roofline& chip, Precision precision) {
    return std::find_if(chip.compute.begin(), chip.compute.end(),
                        [&](const ComputeRoof& r) { return r.precision == precision; });
  };
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
    std::vector<Series> out;
    for (const Roofline& chip : chips) {
      const auto roof = roof_at(chip, precision);
      if (roof != chip.compute.end()) {
        out.push_back({printable(chip.name), roof->peak, chip.memory.front().bandwidth});
      }
    }
    if (out.size() == chips.size()) {
      basis = fmt::format("dense {}, DRAM", name_of(precision));
      return out;
    }
  }
  // Nothing in common: the highest roof of each, named.
  std::vector<Series> out;
  basis = "highest roof of each, DRAM";
  for (const Roofline& chip : chips) {
    const ComputeRoof& roof = chip.compute.front();
    out.push_back({fmt::format("{} ({})", printable(chip.name), name_of(roof.precision)), roof.peak,
                   chip.memory.front().bandwidth});
  }
  return out;
}

LogPlot plot_of(const std::vector<Series>& series, std::size_t rows, std::string basis) {
  constexpr std::array inks{Ink::time, Ink::memory, Ink::good, Ink::caution, Ink::bold, Ink::bad};
  const auto [low, high] =
      std::minmax_element(series.begin(), series.end(),
                          [](const Series& a, const Series& b) { return a.peak < b.peak; });
  double least = 1e300, most = 0, slowest = 1e300;
  for (const Series& one : series) {
    least = std::min(least, ridge_point(one.peak, one.bandwidth).si());
    most = std::max(most, ridge_point(one.peak, one.bandwidth).si());
    slowest = std::min(slowest, one.bandwidth.si());
  }
  const auto decade_below = [](double v) { return std::pow(10.0, std::floor(std::log10(v))); };
  LogPlot plot;
  plot.columns = 64;
  plot.rows = rows;
  plot.x_low = decade_below(least / 2.0);
  plot.x_high = most * 4.0;
  plot.y_low = decade_below(std::min(low->peak.si() / 2.0, slowest * plot.x_low));
  plot.y_high = high->peak.si() * 1.6;
  plot.x_label = "FLOP/byte";
  plot.y_label = "  FLOP/s, " + std::move(basis);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& one = series[i];
    plot.curves.push_back({static_cast<char>('a' + i % 26), inks[i % inks.size()], [one](double x) {
                             return attainable(FlopsPerByte{x}, one.peak, one.bandwidth).si();
                           }});
  }
  return plot;
}

std::vector<std::string> legend(const std::vector<Series>& series, const LogPlot& plot,
                                TextStyle style) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& one = series[i];
    lines.push_back(fmt::format(
        "  {}  {} {}  {}  {}",
        paint(plot.curves[i].ink, std::string(1, plot.curves[i].mark), style),
        pad_right(elide(one.label, 32, style), 32), pad_left(format_quantity(one.peak), 13),
        pad_left(format_quantity(one.bandwidth), 10),
        intensity(ridge_point(one.peak, one.bandwidth)) + " FLOP/B"));
  }
  return lines;
}

} // namespace

std::string render_roofline_text(const std::vector<Roofline>& chips, TextStyle style) {
  std::string out;
  for (const Roofline& chip : chips) {
    out += table_of(chip, style) + "\n";
  }
  std::string basis = printable(chips.front().name);
  const std::vector<Series> series =
      chips.size() == 1 ? series_of_one(chips.front()) : series_of_many(chips, basis);
  constexpr std::size_t around = 3; // label above, ruler and labels below
  static_assert(most_rooflines + around < screen_lines);
  const LogPlot plot = plot_of(series, screen_lines - around - series.size(), basis);
  for (const std::string& line : render(plot, style)) {
    out += line + "\n";
  }
  for (const std::string& line : legend(series, plot, style)) {
    out += line + "\n";
  }
  return out;
}

} // namespace clustersim
