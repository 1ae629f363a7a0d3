#include "pipeline.hpp"

#include "base/bug.hpp"
#include "base/units.hpp"
#include "plan/trained.hpp"

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
  const Partition& partition = scenario.cluster.partitions.front();
  const Chip& chip = scenario.chip();
  Energy result;
  result.chip = chip_energy(timeline, rates);
  // Fans, CPUs, NICs and conversion: what the node's rating has beyond its chips' TDP.
  const double chips = partition.node.chips;
  const Watts rest = partition.node.power
                         ? std::max(Watts{0}, *partition.node.power - chip.power.tdp * chips)
                         : Watts{0};
  const Watts node = result.chip.average * chips + rest;
  result.per_step = node * timeline.step * (partition.nodes * scenario.power.pue);
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

/// What MFU counts when not everything is trained, and what a node keeps outside its chips.
void note_training(Answer& answer) {
  std::vector<std::string>& out = answer.scenario.assumptions;
  if (!answer.scenario.training.tuning.trains_all()) {
    out.push_back(fmt::format(
        "{:.4g} million of {:.4g} million parameters are trained; MFU counts forward, the data "
        "gradients down to the first of them, and the weight gradients of these alone",
        answer.trained / 1e6, static_cast<double>(answer.parameters.total) / 1e6));
  }
  const MemoryFootprint& memory = answer.memory;
  const auto outside = [&](const char* where, Bytes kept, Bytes capacity) {
    if (kept <= Bytes{0}) return;
    const std::string of = capacity > Bytes{0} ? "of " + format_binary(capacity)
                                               : std::string("its capacity is not stated");
    out.push_back(fmt::format("a node keeps {} in {}, {}", format_binary(kept), where, of));
  };
  outside("its host's memory", memory.host, memory.host_capacity);
  outside("its local drives", memory.drives, memory.drive_capacity);
}

} // namespace

Answer answer(const Scenario& scenario) {
  Answer result;
  result.scenario = scenario;
  warn_of_deep_cap(result.scenario);
  result.parameters = count_parameters(scenario.model);
  result.trained = trained_parameters(scenario);
  result.memory = memory_footprint(scenario);
  note_training(result);

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
