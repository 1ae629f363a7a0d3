#include "report/search.hpp"

#include "analysis/plan_axes.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"
#include "study/machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

/// The whole plan as arguments of --set.
std::string settings_of(const Plan& plan) {
  const std::string text = difference(Plan{}, plan);
  return text.empty() ? "one chip, nothing split" : text;
}

double mfu_of(const Scenario& scenario, const FoundPlan& found) {
  const auto peak = training_matrix_rate(scenario.chip(), scenario.training.precision);
  Scenario run = scenario;
  adopt(run, found.plan, scenario.model.vocabulary);
  const double chips = scenario.cluster.chips();
  return model_flops(run) / found.step / chips / *peak;
}

double tokens_per_second(const Scenario& scenario, const FoundPlan& found) {
  return static_cast<double>(scenario.training.global_batch) *
         static_cast<double>(scenario.training.sequence) / found.step.si();
}

std::string counts_text(const SearchResult& result) {
  std::string refused;
  for (const auto& [key, one] : result.refused.by_key) {
    if (key == "memory") continue;
    refused += hanging("    ", fmt::format("{} by {}: {}, for one", grouped(one.count), key,
                                           printable(one.reason)));
  }
  const auto memory = result.refused.by_key.find("memory");
  const std::int64_t large = memory == result.refused.by_key.end() ? 0 : memory->second.count;
  std::string out =
      fmt::format("  {} plans: {} timed, {} too large for a chip's memory\n",
                  grouped(result.enumerated), grouped(result.evaluated), grouped(large));
  if (result.pruned > 0) {
    out +=
        fmt::format("  {} not tried, as a lower bound proves them worse\n", grouped(result.pruned));
  }
  const std::int64_t others = result.refused.total() - large;
  if (others > 0) out += fmt::format("  {} refused\n{}", grouped(others), refused);
  return out;
}

std::vector<std::string> row_of(const SearchReport& report, std::size_t i,
                                const std::vector<FoundPlan>& plans) {
  const FoundPlan& found = plans[i];
  const FoundPlan& first = plans.front();
  std::vector<std::string> row{std::to_string(i + 1), format_quantity(found.step),
                               i == 0 ? "" : signed_percent(found.step / first.step - 1.0),
                               percent(mfu_of(report.scenario, found)), format_binary(found.used)};
  if (report.options.objective != Objective::step_time) {
    row.push_back(found.energy ? format_quantity(*found.energy) : "-");
    row.push_back(found.cost ? fmt::format("{:.4g} USD", found.cost->si()) : "-");
  }
  row.push_back(i == 0 ? settings_of(found.plan) : difference(first.plan, found.plan));
  return row;
}

std::string plans_text(const SearchReport& report, const std::vector<FoundPlan>& plans,
                       TextStyle style) {
  std::vector<Column> columns{{"", Align::right},
                              {"step", Align::right},
                              {"", Align::right},
                              {"MFU", Align::right},
                              {"memory", Align::right}};
  if (report.options.objective != Objective::step_time) {
    columns.push_back({"energy", Align::right});
    columns.push_back({"cost", Align::right});
  }
  columns.push_back({"plan, below the first what differs from it"});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < plans.size(); ++i)
    rows.push_back(row_of(report, i, plans));
  return table(columns, rows, style);
}

std::string nothing_fits(const SearchReport& report) {
  const auto& nearest = report.result.nearest;
  if (!nearest) return "  No plan of this space can be run.\n";
  return hanging("  ", fmt::format("No plan fits. The nearest is short by {}: {}",
                                   format_binary(nearest->used - nearest->usable),
                                   settings_of(nearest->plan))) +
         "  Its step would take " + format_quantity(nearest->step) + " if it did.\n";
}

Json plan_json(const SearchReport& report, const FoundPlan& found, std::size_t rank) {
  const Plan& plan = found.plan;
  Json out{{"rank", rank},
           {"settings", settings_of(plan)},
           {"score", found.score},
           {"step_time_s", found.step.si()},
           {"tokens_per_s", tokens_per_second(report.scenario, found)},
           {"mfu", mfu_of(report.scenario, found)},
           {"memory_bytes", found.used.si()},
           {"usable_bytes", found.usable.si()}};
  if (found.energy) out["energy_j"] = found.energy->si();
  if (found.cost) out["cost_usd"] = found.cost->si();
  out["plan"] = {{"tensor", plan.tensor},
                 {"pipeline", plan.pipeline},
                 {"virtual_stages", plan.virtual_stages},
                 {"schedule", spelled(plan.schedule)},
                 {"data", plan.data},
                 {"context", plan.context},
                 {"context_exchange", spelled(plan.context_exchange)},
                 {"expert", plan.expert},
                 {"expert_tensor", plan.expert_tensor},
                 {"sequence_parallel", plan.sequence_parallel},
                 {"zero", plan.zero},
                 {"hybrid_shard", plan.hybrid_shard},
                 {"micro_batch", plan.micro_batch},
                 {"recompute", spelled(plan.recompute)}};
  return out;
}

Json plans_json(const SearchReport& report, const std::vector<FoundPlan>& plans) {
  Json out = Json::array();
  for (std::size_t i = 0; i < plans.size(); ++i)
    out.push_back(plan_json(report, plans[i], i + 1));
  return out;
}

/// Differences of the two breakdowns that matter, largest first.
std::vector<std::pair<std::string, Seconds>> savings(const Timeline& best, const Timeline& other) {
  std::vector<std::pair<std::string, Seconds>> out;
  const auto of = [](const Timeline& timeline, const std::string& name) {
    Seconds sum;
    for (const BreakdownItem& item : timeline.breakdown)
      sum += item.name == name ? item.time : Seconds{0};
    return sum;
  };
  const auto add = [&](const Timeline& from) {
    for (const BreakdownItem& item : from.breakdown) {
      const bool known = std::any_of(out.begin(), out.end(),
                                     [&](const auto& one) { return one.first == item.name; });
      if (!known) out.emplace_back(item.name, of(other, item.name) - of(best, item.name));
    }
  };
  add(best);
  add(other);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second.si()) > std::abs(b.second.si());
  });
  return out;
}

} // namespace

std::string reason_of(const SearchReport& report) {
  if (!report.best || !report.other) return {};
  const Timeline& best = report.best->timeline;
  const Timeline& other = report.other->timeline;
  const double gain = 1.0 - best.step / other.step;
  const std::string whom = report.other_is_given ? "the scenario's own plan" : "the next";
  if (std::abs(gain) < 5e-4) return fmt::format("As fast as {}.", whom);
  std::string less, more;
  int shown = 0;
  for (const auto& [name, saved] : savings(best, other)) {
    if (std::abs(saved / other.step) < 1e-3 || ++shown > 4) break;
    std::string& list = saved > Seconds{0} ? less : more;
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ",
                        format_quantity(Seconds{std::abs(saved.si())}, 3), spaced(name));
  }
  std::string out =
      fmt::format("{} {} than {}", percent(std::abs(gain)), gain > 0 ? "faster" : "slower", whom);
  if (!less.empty()) out += ": less time in " + less;
  if (!more.empty()) out += fmt::format("{} more in {}", less.empty() ? ":" : "; but", more);
  return out + ".";
}

std::string render_search_text(const SearchReport& report, TextStyle style) {
  const SearchResult& result = report.result;
  std::string out =
      paint(Ink::bold,
            hanging("", fmt::format("{} on {}, best {}", printable(report.scenario.model.name),
                                    printable(describe(report.scenario.cluster)),
                                    spaced(std::string{name_of(report.options.objective)}))),
            style);
  if (result.interrupted) out += "  Interrupted: the best so far.\n";
  out += counts_text(result) + "\n";
  if (result.best.empty()) return out + nothing_fits(report);
  out += plans_text(report, result.best, style);
  if (const std::string reason = reason_of(report); !reason.empty())
    out += "\n" + hanging("  ", "The first is " + reason);
  if (report.options.pareto) {
    out += "\n" + paint(Ink::bold, "Less memory for more time", style) + "\n" +
           plans_text(report, result.pareto, style);
  }
  return out;
}

std::string render_search_json(const SearchReport& report, std::string_view version) {
  const SearchResult& result = report.result;
  Json out{{"schema", "clustersim.search/1"}, {"version", version}};
  out["scenario"] = report.scenario.path;
  out["model"] = report.scenario.model.name;
  out["chips"] = report.scenario.cluster.chips();
  out["objective"] = name_of(report.options.objective);
  out["part"] = report.options.part;
  out["parts"] = report.options.parts;
  out["interrupted"] = result.interrupted;
  out["enumerated"] = result.enumerated;
  out["evaluated"] = result.evaluated;
  out["pruned"] = result.pruned;
  out["refused"] = Json::object();
  for (const auto& [key, one] : result.refused.by_key)
    out["refused"][key] = {{"plans", one.count}, {"example", one.reason}};
  out["best"] = plans_json(report, result.best);
  out["pareto"] = plans_json(report, result.pareto);
  out["reason"] = reason_of(report);
  if (result.nearest) {
    out["nearest"] = plan_json(report, *result.nearest, 0);
    out["nearest"]["short_by_bytes"] = (result.nearest->used - result.nearest->usable).si();
  }
  return to_text(out);
}

std::string render_search_csv(const SearchReport& report) {
  std::string out = csv_line({"list", "rank", "step_time_s", "tokens_per_s", "mfu", "memory_bytes",
                              "energy_j", "cost_usd", "settings"});
  const auto add = [&](std::string_view list, const std::vector<FoundPlan>& plans) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const FoundPlan& found = plans[i];
      out += csv_line({std::string{list}, std::to_string(i + 1), shortest(found.step.si()),
                       shortest(tokens_per_second(report.scenario, found)),
                       shortest(mfu_of(report.scenario, found)), shortest(found.used.si()),
                       found.energy ? shortest(found.energy->si()) : "",
                       found.cost ? shortest(found.cost->si()) : "", settings_of(found.plan)});
    }
  };
  add("best", report.result.best);
  add("pareto", report.result.pareto);
  return out;
}

} // namespace clustersim
