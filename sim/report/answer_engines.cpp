#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim {
namespace {

Seconds time_of(const std::vector<BreakdownItem>& items, std::string_view name) {
  for (const BreakdownItem& item : items) {
    if (item.name == name) return item.time;
  }
  return {};
}

/// Every cause by both engines, and the step.
std::string comparison(const Answer& answer, TextStyle style) {
  const Timeline &analytic = *answer.analytic, &event = answer.event->timeline;
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, Seconds a, Seconds b) {
    rows.push_back(
        {name, format_quantity(a), format_quantity(b), signed_percent((b - a) / analytic.step)});
  };
  std::vector<std::string> names;
  for (const auto* items : {&analytic.breakdown, &event.breakdown}) {
    for (const BreakdownItem& item : *items) {
      if (std::find(names.begin(), names.end(), item.name) == names.end())
        names.push_back(item.name);
    }
  }
  for (const std::string& name : names)
    add(spaced(name), time_of(analytic.breakdown, name), time_of(event.breakdown, name));
  add("step", analytic.step, event.step);
  return heading("Both engines", style) + table({{"cause"},
                                                 {"analytic", Align::right},
                                                 {"event", Align::right},
                                                 {"of the step", Align::right}},
                                                rows, style);
}

} // namespace

std::string engines_section(const Answer& answer, TextStyle style) {
  if (!answer.event) return "";
  const EventRun& run = *answer.event;
  std::vector<std::vector<std::string>> rows;
  for (const StreamUse& stream : run.streams)
    rows.push_back({stream.name + " stream", percent(stream.busy), ""});
  for (const LinkUse& link : run.links) {
    rows.push_back({printable(answer.network->graph.link_classes()[link.link_class.at()].name),
                    percent(link.busy), percent(link.use)});
  }
  std::string out = answer.analytic ? comparison(answer, style) : "";
  out += heading("How busy streams and links are", style);
  out += table({{"resource"}, {"busy", Align::right}, {"of its bandwidth", Align::right}}, rows,
               style);
  rows.clear();
  for (const BreakdownItem& item : run.critical_path) {
    if (item.time > 0.0005 * run.timeline.step)
      rows.push_back({spaced(item.name), percent(item.time / run.timeline.step)});
  }
  out += heading("What the longest chain consists of", style);
  return out + table({{"cause"}, {"share", Align::right}}, rows, style);
}

} // namespace clustersim
