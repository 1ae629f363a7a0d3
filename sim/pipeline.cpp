#include "pipeline.hpp"

#include "base/bug.hpp"
#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clustersim {

namespace {

Headline headline(const Scenario& scenario, const Timeline& timeline) {
  const double chips = scenario.cluster.chips();
  const Precision precision = scenario.training.precision;
  const auto peak = training_matrix_rate(scenario.chip(), precision);
  if (!peak) {
    throw Bug("validation let a precision through that the chip lacks");
  }
  Headline result;
  result.samples_per_second =
      static_cast<double>(scenario.training.global_batch) / timeline.step.si();
  result.tokens_per_second =
      result.samples_per_second * static_cast<double>(scenario.training.sequence);
  result.tokens_per_second_per_chip = result.tokens_per_second / chips;
  result.model_flops = model_flops(scenario);
  result.hardware_flops = timeline.hardware_flops * chips;
  result.rate_per_chip = result.model_flops / timeline.step / chips;
  result.peak = *peak;
  result.peak_basis = fmt::format("{} dense {}", format_quantity(result.peak), name_of(precision));
  result.mfu = result.rate_per_chip / result.peak;
  result.hfu = result.hardware_flops / timeline.step / chips / result.peak;
  if (result.mfu > 1.0 || result.hfu > 1.0) {
    throw Bug(fmt::format("utilisation above 100 % of {}", result.peak_basis));
  }
  return result;
}

/// No cap forces a chip below its lowest clock, and what that draws.
void warn_of_deep_cap(Scenario& scenario) {
  const Watts least = busy_power(scenario.chip(), scenario.power);
  if (scenario.power.cap && *scenario.power.cap < least) {
    scenario.warnings.push_back(
        fmt::format("power.cap {} is below the {} that a matrix load draws at the lowest clock: "
                    "time and energy are those of that clock",
                    format_quantity(*scenario.power.cap), format_quantity(least)));
  }
}

/// Plans are timed by the analytic engine: what they gain there, they gain on the step.
Seconds as_timed(const Answer& answer, Seconds plan, Seconds analytic) {
  if (answer.engine == Engine::analytic) return plan;
  return answer.timeline.step * (plan / analytic);
}

/// Among the what-ifs of the hardware, by gain.
void add_plan_what_ifs(Answer& answer, Seconds analytic, Network& network) {
  std::vector<WhatIf>& what_ifs = answer.explanation.what_ifs;
  for (const PlanChange& plan : faster_plans(answer.scenario, analytic, network)) {
    what_ifs.push_back(
        {plan.change, as_timed(answer, plan.step, analytic), 1.0 - plan.step / analytic, true});
  }
  std::stable_sort(what_ifs.begin(), what_ifs.end(),
                   [](const WhatIf& a, const WhatIf& b) { return a.gain > b.gain; });
}

void run_engines(Answer& result, CostModel& cost, const RunOptions& options) {
  const bool event = options.engine == Engine::event;
  if (event || options.compare_engines || options.spans > 0)
    result.event = run_event(result.program, cost, {true, true, options.spans});
  if (options.compare_engines) result.analytic = run_analytic(result.program, cost);
  result.timeline = event ? result.event->timeline : run_analytic(result.program, cost);
}

void advise(Answer& result, CostModel& cost, Network& network) {
  const Seconds analytic =
      result.engine == Engine::analytic ? result.timeline.step : step_time(result.program, cost);
  if (result.memory.fits()) {
    add_plan_what_ifs(result, analytic, network);
    return;
  }
  result.remedies = plans_with_less_memory(result.scenario, network);
  for (PlanChange& remedy : result.remedies)
    remedy.step = as_timed(result, remedy.step, analytic);
}

} // namespace

Watts beside_the_chips(const Scenario& scenario) {
  const Node& node = scenario.cluster.partitions.front().node;
  return node.power ? std::max(Watts{0}, *node.power - node.chip.power.tdp * node.chips) : Watts{0};
}

Energy energy_of(const Scenario& scenario, const Timeline& timeline, const EnergyRates& rates) {
  const Partition& partition = scenario.cluster.partitions.front();
  Energy result;
  result.chip = chip_energy(timeline, rates);
  const Watts node = result.chip.average * partition.node.chips + beside_the_chips(scenario);
  result.per_step = node * timeline.step * (partition.nodes * scenario.power.pue);
  return result;
}

Answer answer(const Scenario& scenario, const RunOptions& options) {
  Answer result;
  result.engine = options.engine;
  result.scenario = scenario;
  warn_of_deep_cap(result.scenario);
  result.parameters = count_parameters(scenario.model);
  result.memory = memory_footprint(scenario);

  const auto network = std::make_shared<Network>(scenario.cluster);
  result.program = lower(scenario);
  CostModel cost(scenario, *network);
  run_engines(result, cost, options);
  result.headline = headline(scenario, result.timeline);
  result.explanation = explain(scenario, result.program, *network, result.timeline, options.engine);
  advise(result, cost, *network);
  result.network = network;
  result.energy = energy_of(scenario, result.timeline, cost.device().energy);
  if (scenario.prices.electricity) {
    result.electricity_per_step = result.energy.per_step * *scenario.prices.electricity;
  }
  return result;
}

} // namespace clustersim
