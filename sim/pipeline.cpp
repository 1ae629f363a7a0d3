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

Energy energy(const Scenario& scenario, const Timeline& timeline, const EnergyRates& rates) {
  Energy result;
  result.chip = chip_energy(timeline, rates);
  result.per_step = site_power(scenario, result.chip.average) * timeline.step;
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

/// Among the what-ifs of the hardware, by gain.
void add_plan_what_ifs(Answer& answer, Network& network) {
  const Seconds step = answer.timeline.step;
  std::vector<WhatIf>& what_ifs = answer.explanation.what_ifs;
  for (const PlanChange& plan : faster_plans(answer.scenario, step, network)) {
    what_ifs.push_back({plan.change, plan.step, 1.0 - plan.step / step, true});
  }
  std::stable_sort(what_ifs.begin(), what_ifs.end(),
                   [](const WhatIf& a, const WhatIf& b) { return a.gain > b.gain; });
}

} // namespace

Answer answer(const Scenario& scenario) {
  Answer result;
  result.scenario = scenario;
  warn_of_deep_cap(result.scenario);
  result.parameters = count_parameters(scenario.model);
  result.memory = memory_footprint(scenario);

  const auto network = std::make_shared<Network>(scenario.cluster);
  const StepProgram program = lower(scenario);
  CostModel cost(scenario, *network);
  result.timeline = run_analytic(program, cost);
  result.headline = headline(scenario, result.timeline);
  result.explanation = explain(scenario, program, *network, result.timeline);
  if (result.memory.fits()) {
    add_plan_what_ifs(result, *network);
  } else {
    result.remedies = plans_with_less_memory(scenario, *network);
  }
  result.network = network;
  result.energy = energy(scenario, result.timeline, cost.device().energy);
  if (scenario.prices.electricity) {
    result.electricity_per_step = result.energy.per_step * *scenario.prices.electricity;
  }
  return result;
}

} // namespace clustersim
