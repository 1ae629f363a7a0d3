#include "report/figures.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace clustersim {
namespace {

void refuse_impossible(const Answer& answer) {
  const Headline& head = answer.headline;
  const double step = answer.timeline.step.si();
  if (!std::isfinite(step) || step <= 0.0) {
    throw Bug(fmt::format("a step of {} s", step));
  }
  for (const double share : {head.mfu, head.hfu}) {
    if (!std::isfinite(share) || share < 0.0 || share > 1.0) {
      throw Bug(fmt::format("utilisation of {:.1f} % of {}: refused, more than 100 % cannot be",
                            share * 100.0, head.peak_basis));
    }
  }
}

std::optional<RunTotals> run_totals(const Answer& answer, double tokens_per_step) {
  const std::optional<double>& tokens = answer.scenario.training.tokens;
  if (!tokens) {
    return std::nullopt;
  }
  RunTotals run;
  run.tokens = *tokens;
  run.steps = std::ceil(*tokens / tokens_per_step);
  run.time = answer.timeline.step * run.steps;
  run.energy = answer.energy.per_step * run.steps;
  if (answer.electricity_per_step) {
    run.electricity = *answer.electricity_per_step * run.steps;
  }
  return run;
}

/// Of all chips, where all have a price.
std::optional<Dollars> rental(const Cluster& cluster, Seconds time) {
  Dollars sum;
  for (const Partition& partition : cluster.partitions) {
    const auto& rate = partition.node.chip.cloud_price;
    if (!rate) return std::nullopt;
    sum += *rate * time * static_cast<double>(partition.chips());
  }
  return sum;
}

} // namespace

std::vector<BreakdownItem> close_breakdown(std::vector<BreakdownItem> items, Seconds step) {
  const double total = step.si();
  const double spacing = std::nextafter(total, std::numeric_limits<double>::infinity()) - total;
  double open = total;
  for (BreakdownItem& item : items) {
    if (item.time.si() < -1e-9 * total) {
      throw Bug(fmt::format("'{}' takes {} s of the step", item.name, item.time.si()));
    }
    item.time = Seconds{std::round(std::max(0.0, item.time.si()) / spacing) * spacing};
    open -= item.time.si();
  }
  if (items.empty() || std::fabs(open) > 1e-9 * total) {
    throw Bug(fmt::format("the time breakdown misses {} s of a step of {} s", open, total));
  }
  const auto largest = std::max_element(
      items.begin(), items.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  largest->time += Seconds{open};
  return items;
}

Seconds total_time(const OpRecord& op) {
  return op.each.device * static_cast<double>(op.calls);
}

double slowdown_of(const PlanChange& change, const Answer& answer) {
  return change.step / answer.timeline.step - 1.0;
}

double half_width_of(const Answer& answer) {
  return answer.explanation.range.high / answer.timeline.step - 1.0;
}

Figures figures_of(const Answer& answer) {
  refuse_impossible(answer);
  const Scenario& scenario = answer.scenario;
  Figures out;
  out.time = close_breakdown(answer.timeline.breakdown, answer.timeline.step);
  out.memory = answer.memory.terms;
  out.memory.push_back({"framework", answer.memory.reserve, ""});
  out.used = answer.memory.peak + answer.memory.reserve;
  out.margin_share = answer.memory.margin() / answer.memory.usable;
  out.chips = scenario.cluster.chips();
  out.micro_batches = scenario.micro_batches();
  out.tokens_per_step = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.sequence);
  out.energy_per_token = answer.energy.per_step / out.tokens_per_step;
  const double to_million = 1e6 / out.tokens_per_step;
  if (answer.electricity_per_step) {
    out.electricity_per_million_tokens = *answer.electricity_per_step * to_million;
  }
  out.rental_per_step = rental(scenario.cluster, answer.timeline.step);
  if (out.rental_per_step) {
    out.rental_per_million_tokens = *out.rental_per_step * to_million;
  }
  out.run = run_totals(answer, out.tokens_per_step);
  return out;
}

double share_of(const PartitionAnswer& part, const Answer& answer) {
  return static_cast<double>(part.share.all * answer.scenario.plan.micro_batch) /
         static_cast<double>(answer.scenario.training.global_batch);
}

} // namespace clustersim
