#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t name_width = 16;
constexpr std::size_t number_width = 6;
constexpr std::size_t bar_width = 6;
constexpr std::size_t column_width =
    page_width / 2 + 2; // of the left block, indent and gap included

/// A column of addends: name, value, share and a bar each, their sum at the top.
struct Breakdown {
  std::string head, unit;
  FixedPoint form;
  Ink ink = Ink::time;
  std::vector<std::string> names;
  std::vector<double> values;
  double total = 0.0;
};

/// Rows that would print as zero go, and the smallest are joined into one where there are more than
/// `most`. The total stays that of all rows.
Breakdown shortened(const Breakdown& all, std::size_t most) {
  const double least = 0.5 * all.form.unit / std::pow(10.0, all.form.decimals);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    if (all.values[i] >= least) {
      order.push_back(i);
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all.values[a] > all.values[b]; });
  Breakdown out = all;
  out.names.clear();
  out.values.clear();
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double value = all.values[order[rank]];
    if (order.size() > most && rank + 1 > most) {
      out.names.back() = fmt::format("{} others", rank + 2 - most);
      out.values.back() += value;
    } else {
      out.names.push_back(all.names[order[rank]]);
      out.values.push_back(value);
    }
  }
  return out;
}

std::vector<std::string> rendered(const Breakdown& shown, TextStyle style) {
  const auto numbers = apportioned(shown.values, shown.total, shown.form);
  const auto shares = apportioned(shown.values, shown.total, {shown.total / 100.0, 1});
  const double longest = *std::max_element(shown.values.begin(), shown.values.end());
  std::vector<std::string> lines{
      paint(Ink::bold,
            fmt::format(
                "{} {} {}", pad_right(shown.head, name_width),
                pad_left(apportioned({shown.total}, shown.total, shown.form).front(), number_width),
                shown.unit),
            style)};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string name = spaced(shown.names[i]);
    lines.push_back(
        fmt::format("{} {} {} % {}", pad_right(elide(name, name_width, style), name_width),
                    pad_left(numbers[i], number_width), pad_left(shares[i], 4),
                    paint(shown.ink, bar(shown.values[i] / longest, bar_width, style), style)));
  }
  return lines;
}

/// Four significant digits of the total.
FixedPoint decimals_for(double total, double unit) {
  const double number = total / unit;
  return {unit, number >= 999.5 ? 0 : number >= 99.95 ? 1 : number >= 9.995 ? 2 : 3};
}

Breakdown time_breakdown(const Answer& answer, const Figures& figures) {
  Breakdown out;
  const double step = answer.timeline.step.si();
  const std::size_t scale = step >= 1.0 ? 0 : step >= 1e-3 ? 1 : 2;
  out.total = step;
  out.head = "Time of a step";
  out.unit = std::array{"s", "ms", "us"}[scale];
  out.form = decimals_for(step, std::array{1.0, 1e-3, 1e-6}[scale]);
  for (const BreakdownItem& item : figures.time) {
    out.names.push_back(item.name);
    out.values.push_back(item.time.si());
  }
  return out;
}

Breakdown memory_breakdown(const Figures& figures) {
  Breakdown out;
  const double gib = 1024.0 * 1024.0 * 1024.0;
  const bool large = figures.used.si() >= gib;
  out.total = figures.used.si();
  out.head = "Memory of a chip";
  out.unit = large ? "GiB" : "MiB";
  out.form = decimals_for(figures.used.si(), large ? gib : gib / 1024.0);
  out.ink = Ink::memory;
  for (const MemoryTerm& term : figures.memory) {
    out.names.push_back(term.name);
    out.values.push_back(term.bytes.si());
  }
  return out;
}

} // namespace

std::vector<std::string> breakdown_lines(const Answer& answer, const Figures& figures,
                                         std::size_t rows, TextStyle style) {
  const auto time = rendered(shortened(time_breakdown(answer, figures), rows), style);
  const auto memory = rendered(shortened(memory_breakdown(figures), rows), style);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::max(time.size(), memory.size()); ++i) {
    const std::string left = i < time.size() ? "  " + time[i] : "";
    lines.push_back(i < memory.size() ? pad_right(left, column_width) + memory[i] : left);
  }
  return lines;
}

} // namespace clustersim
