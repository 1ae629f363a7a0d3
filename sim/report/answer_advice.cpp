#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t most_lines = 3;
constexpr std::size_t change_width = 46;

/// The best, and among them the best change of the plan if it saves anything worth a line: it costs
/// no hardware.
std::vector<WhatIf> shown(const std::vector<WhatIf>& what_ifs) {
  constexpr double worth_a_line = 0.0005;
  std::vector<WhatIf> out(what_ifs.begin(), what_ifs.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                   most_lines, what_ifs.size())));
  const auto of_the_plan = [](const WhatIf& what_if) { return what_if.plan; };
  const auto plan = std::find_if(what_ifs.begin(), what_ifs.end(), of_the_plan);
  if (!out.empty() && std::none_of(out.begin(), out.end(), of_the_plan) && plan != what_ifs.end() &&
      plan->gain >= worth_a_line) {
    out.back() = *plan;
  }
  return out;
}

} // namespace

std::vector<std::string> what_if_lines(const Answer& answer, TextStyle style) {
  std::vector<std::string> lines{paint(Ink::bold, "  What would help", style)};
  for (const WhatIf& what_if : shown(answer.explanation.what_ifs)) {
    const std::string change = printable(what_if.change) + (what_if.plan ? " in the plan" : "");
    const std::string gain = fmt::format("{} shorter", percent(what_if.gain));
    lines.push_back(fmt::format("  {} {}  step {}",
                                pad_right(elide(change, change_width, style), change_width),
                                pad_left(gain, 14), format_quantity(what_if.step)));
  }
  return lines;
}

std::vector<std::string> remedy_lines(const Answer& answer, TextStyle style) {
  const auto largest =
      std::max_element(answer.memory.terms.begin(), answer.memory.terms.end(),
                       [](const MemoryTerm& a, const MemoryTerm& b) { return a.bytes < b.bytes; });
  std::string where; // of several partitions
  for (const PartitionAnswer& part : answer.partitions) {
    if (part.memory.margin() <= answer.memory.margin())
      where = fmt::format(" on {}", printable(part.scenario.chip().name));
  }
  std::string head = fmt::format("Does not fit{}.", where);
  if (largest != answer.memory.terms.end()) {
    head = fmt::format("Does not fit{}: {} too much. Largest: {}, {}.", where,
                       format_binary(-answer.memory.margin()), largest->name,
                       format_binary(largest->bytes));
  }
  std::vector<std::string> lines{"  " + paint(Ink::bad, elide(head, page_width - 2, style), style)};
  for (std::size_t i = 0; i < std::min(most_lines, answer.remedies.size()); ++i) {
    const PlanChange& remedy = answer.remedies[i];
    const Bytes used = remedy.peak + answer.memory.reserve;
    const std::string effect = fmt::format(
        "{}  {}  {} step", pad_left(format_binary(used), 9), remedy.fits ? "fits    " : "too much",
        pad_left(signed_percent(slowdown_of(remedy, answer)), 8));
    const std::size_t room = page_width - 3 - columns_of(effect);
    lines.push_back(fmt::format(
        "  {} {}", pad_right(elide(printable(remedy.change), room, style), room), effect));
  }
  if (answer.remedies.empty()) {
    lines.emplace_back("  No single change of the plan lowers the peak.");
  }
  return lines;
}

} // namespace clustersim
