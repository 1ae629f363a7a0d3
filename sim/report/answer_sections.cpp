#include "report/answer_sections.hpp"

#include "base/text.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace clustersim {
namespace {

std::string sentences(const std::vector<std::string>& all, TextStyle style) {
  std::string out;
  for (const std::string& sentence : all) {
    out += hanging(style.unicode ? "  • " : "  - ", printable(sentence));
  }
  return out;
}

std::string fact(std::string_view name, std::string_view text) {
  return fmt::format("  {} {}\n", pad_right(name, 18), text);
}

/// Facts inside a file of the catalogue, "chip.ID.…", as against choices of the scenario.
bool of_catalogue(const ResolvedValue& value) {
  constexpr std::array kinds{"chip.", "transformer.", "node.",   "fabric.",
                             "link.", "stack.",       "recipe.", "calibration."};
  return value.origin != Origin::calibration &&
         std::count(value.key.begin(), value.key.end(), '.') > 1 &&
         std::any_of(kinds.begin(), kinds.end(),
                     [&](std::string_view kind) { return value.key.starts_with(kind); });
}

/// Cents matter for a step, not for a run.
std::string money(Dollars dollars) {
  return dollars.si() >= 100.0 ? fmt::format("{} USD", grouped(dollars.si()))
                               : fmt::format("{:.4g} USD", dollars.si());
}

/// "backward 51 %, forward 25 %, …", largest first.
std::string shares_of(std::vector<EnergyItem> items, TextStyle style) {
  std::stable_sort(items.begin(), items.end(),
                   [](const EnergyItem& a, const EnergyItem& b) { return a.energy > b.energy; });
  Joules sum;
  for (const EnergyItem& item : items) {
    sum += item.energy;
  }
  std::string out;
  for (const EnergyItem& item : items) {
    out += fmt::format("{}{} {}", out.empty() ? "" : separator(style), item.name,
                       percent(item.energy / sum));
  }
  return out;
}

} // namespace

std::string heading(std::string_view text, TextStyle style) {
  return "\n" + paint(Ink::bold, text, style) + "\n";
}

std::string parts_section(const Answer& answer, const Figures& figures, TextStyle style) {
  std::vector<std::vector<std::string>> rows;
  for (const BreakdownItem& item : figures.time) {
    rows.push_back(
        {spaced(item.name), format_quantity(item.time), percent(item.time / answer.timeline.step)});
  }
  std::string out = heading("Where the time goes", style);
  out += table({{"cause"}, {"time", Align::right}, {"share", Align::right}}, rows, style);
  rows.clear();
  for (const MemoryTerm& term : figures.memory) {
    rows.push_back({term.name, format_binary(term.bytes), percent(term.bytes / figures.used),
                    printable(term.sharded_by)});
  }
  out += heading("Where the memory goes", style);
  return out + table({{"term"}, {"size", Align::right}, {"share", Align::right}, {"divided by"}},
                     rows, style);
}

std::string remedies_section(const Answer& answer, TextStyle style) {
  std::vector<std::vector<std::string>> rows;
  for (const PlanChange& remedy : answer.remedies) {
    rows.push_back({format_binary(remedy.peak + answer.memory.reserve),
                    remedy.fits ? "fits" : "too much", signed_percent(slowdown_of(remedy, answer)),
                    printable(remedy.change)});
  }
  if (rows.empty()) {
    return "";
  }
  return heading("Remedies", style) +
         table({{"memory", Align::right}, {""}, {"step", Align::right}, {"change"}}, rows, style);
}

std::string sensitivity_section(const Explanation& explanation, TextStyle style) {
  std::vector<std::vector<std::string>> rows;
  for (const Elasticity& elasticity : explanation.elasticities) {
    if (std::max(elasticity.value, elasticity.doubled) >= 0.0005) {
      rows.push_back({printable(elasticity.resource), percent(elasticity.value),
                      percent(elasticity.doubled),
                      paint(Ink::time, bar(elasticity.value, 20, style), style)});
    }
  }
  return heading("What a faster resource would save", style) +
         table({{"resource"}, {"elasticity", Align::right}, {"if doubled", Align::right}, {""}},
               rows, style);
}

std::string energy_section(const Answer& answer, const Figures& figures, TextStyle style) {
  std::string out = heading("Energy and cost", style);
  out += fact("power", fmt::format("{} per chip on average, {} while it works, PUE {}",
                                   format_quantity(answer.energy.chip.average, 3),
                                   format_quantity(answer.energy.chip.busy, 3),
                                   shortest(answer.scenario.power.pue)));
  out += fact("by phase", shares_of(answer.energy.chip.items, style));
  out +=
      fact("energy", fmt::format("{} a step, {} a token", format_quantity(answer.energy.per_step),
                                 format_quantity(figures.energy_per_token)));
  if (answer.electricity_per_step) {
    out += fact("electricity",
                fmt::format("{} a step, {} a million tokens", money(*answer.electricity_per_step),
                            money(*figures.electricity_per_million_tokens)));
  }
  if (figures.rental_per_step) {
    out += fact("rented chips",
                fmt::format("{} a step, {} a million tokens", money(*figures.rental_per_step),
                            money(*figures.rental_per_million_tokens)));
  }
  if (figures.run) {
    const RunTotals& run = *figures.run;
    out += fact("whole run", fmt::format("{} steps, {:.4g} days, {}", grouped(run.steps),
                                         run.time.si() / 86400.0, format_quantity(run.energy)) +
                                 (run.electricity ? ", " + money(*run.electricity) : ""));
  }
  return out;
}

std::string notes_section(const Answer& answer, TextStyle style) {
  std::string out;
  if (!answer.scenario.warnings.empty()) {
    out += heading("Warnings", style) + sentences(answer.scenario.warnings, style);
  }
  return out + heading("Assumptions", style) + sentences(assumptions_of(answer), style);
}

std::string inputs_section(const Scenario& scenario, TextStyle style) {
  const bool all = style.detail == Detail::full;
  std::vector<std::vector<std::string>> rows;
  std::int64_t hidden = 0;
  for (const ResolvedValue& value : scenario.inputs) {
    if (!all && (value.origin == Origin::file || of_catalogue(value))) {
      hidden += of_catalogue(value) ? 1 : 0;
      continue;
    }
    const bool placed = value.source.empty() || value.origin == Origin::calibration;
    const std::string& detail = placed ? value.where : value.source;
    const std::string from =
        std::string{name_of(value.origin)} + (detail.empty() ? "" : ": " + detail);
    rows.push_back({printable(value.key), printable(value.text), printable(from)});
  }
  std::string out;
  if (!rows.empty()) {
    out =
        heading(all ? "All values and where they come from" : "Not from the scenario file", style) +
        table({{"key"}, {"value"}, {"origin"}}, rows, style);
  }
  if (hidden > 0) {
    out += "\n" +
           paint(Ink::dim,
                 fmt::format("-v lists every operator, and {} with their sources.",
                             counted(hidden, "catalogue value")),
                 style) +
           "\n";
  }
  return out;
}

std::string operators_section(const Timeline& timeline, TextStyle style) {
  std::vector<const OpRecord*> ops;
  for (const OpRecord& op : timeline.ops) {
    ops.push_back(&op);
  }
  std::stable_sort(ops.begin(), ops.end(), [](const OpRecord* a, const OpRecord* b) {
    return total_time(*a) > total_time(*b);
  });
  std::vector<std::vector<std::string>> rows;
  for (const OpRecord* op : ops) {
    const bool named = op->each.collective.form != nullptr;
    rows.push_back({format_quantity(total_time(*op)), grouped(op->calls),
                    format_quantity(op->each.device),
                    op->axis ? std::string{named ? op->each.collective.form->algorithm : "local"}
                             : std::string{name_of(op->each.kernel.binding)},
                    fmt::format("{}: {}", op->block, op->name)});
  }
  return heading("Operators, longest first", style) + table({{"in all", Align::right},
                                                             {"calls", Align::right},
                                                             {"each", Align::right},
                                                             {"limit"},
                                                             {"operator"}},
                                                            rows, style);
}

} // namespace clustersim
