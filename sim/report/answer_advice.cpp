#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t most_lines = 3;
constexpr std::size_t change_width = 46;

} // namespace

std::vector<std::string> what_if_lines(const Answer& answer, TextStyle style) {
  std::vector<std::string> lines{paint(Ink::bold, "  What would help", style)};
  const auto& what_ifs = answer.explanation.what_ifs;
  for (std::size_t i = 0; i < std::min(most_lines, what_ifs.size()); ++i) {
    const WhatIf& what_if = what_ifs[i];
    const std::string gain = fmt::format("{} shorter", percent(what_if.gain));
    lines.push_back(
        fmt::format("  {} {}  step {}",
                    pad_right(elide(printable(what_if.change), change_width, style), change_width),
                    pad_left(gain, 14), format_quantity(what_if.step)));
  }
  return lines;
}

std::vector<std::string> remedy_lines(const Answer& answer, TextStyle style) {
  const auto largest =
      std::max_element(answer.memory.terms.begin(), answer.memory.terms.end(),
                       [](const MemoryTerm& a, const MemoryTerm& b) { return a.bytes < b.bytes; });
  std::string head = "Does not fit.";
  if (largest != answer.memory.terms.end()) {
    head = fmt::format("Does not fit: {} too much. Largest: {}, {}.",
                       format_binary(-answer.memory.margin()), largest->name,
                       format_binary(largest->bytes));
  }
  std::vector<std::string> lines{"  " + paint(Ink::bad, elide(head, page_width - 2, style), style)};
  for (std::size_t i = 0; i < std::min(most_lines, answer.remedies.size()); ++i) {
    const Remedy& remedy = answer.remedies[i];
    const Bytes used = remedy.peak + answer.memory.reserve;
    const std::string effect = fmt::format("{}  {}  {} step", pad_left(format_binary(used), 9),
                                           remedy.fits ? "fits    " : "too much",
                                           pad_left(signed_percent(remedy.slowdown), 8));
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
