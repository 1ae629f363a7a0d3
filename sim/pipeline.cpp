#include "pipeline.hpp"

#include "base/bug.hpp"
#include "base/units.hpp"
#include "engine/job.hpp"
#include "plan/trained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clustersim {

namespace {

struct Peak {
  FlopsPerSecond rate;
  std::string basis;
};

/// Of a chip; of unlike chips the mean.
Peak peak_of(const Scenario& scenario) {
  const Precision precision = scenario.training.precision;
  FlopsPerSecond sum, first;
  bool alike = true;
  for (const Partition& partition : scenario.cluster.partitions) {
    const auto rate = training_matrix_rate(partition.node.chip, precision);
    if (!rate) throw Bug("validation let a precision through that a chip lacks");
    if (&partition == &scenario.cluster.partitions.front()) first = *rate;
    alike = alike && *rate == first;
    sum += *rate * static_cast<double>(partition.chips());
  }
  Peak peak{alike ? first : sum / static_cast<double>(scenario.cluster.chips()), {}};
  peak.basis = fmt::format("{} dense {}{}", format_quantity(peak.rate), name_of(precision),
                           alike ? "" : ", mean");
  return peak;
}

/// `executed`: by all chips.
Headline headline(const Scenario& scenario, Seconds step, Flops executed) {
  const double chips = scenario.cluster.chips();
  const Peak peak = peak_of(scenario);
  Headline result;
  result.samples_per_second = static_cast<double>(scenario.training.global_batch) / step.si();
  result.tokens_per_second =
      result.samples_per_second * static_cast<double>(scenario.training.sequence);
  result.tokens_per_second_per_chip = result.tokens_per_second / chips;
  result.model_flops = model_flops(scenario);
  result.hardware_flops = executed;
  result.rate_per_chip = result.model_flops / step / chips;
  result.peak = peak.rate;
  result.peak_basis = peak.basis;
  result.mfu = result.rate_per_chip / result.peak;
  result.hfu = result.hardware_flops / step / chips / result.peak;
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
  Timeline analytic;
  if (!event || options.compare_engines) analytic = run_analytic(result.program, cost);
  if (options.compare_engines) result.analytic = analytic;
  result.timeline = event ? result.event->timeline : std::move(analytic);
}

/// All chips do the same.
void answer_alike(Answer& result, CostModel& cost, Network& network, const RunOptions& options) {
  const Scenario& scenario = result.scenario;
  result.memory = memory_footprint(scenario);
  result.program = lower(scenario);
  run_engines(result, cost, options);
  result.headline = headline(scenario, result.timeline.step,
                             result.timeline.hardware_flops * scenario.cluster.chips());
  result.explanation = explain(scenario, result.program, network, result.timeline, options.engine);
  result.energy.chip = chip_energy(result.timeline, cost.device().energy);
  result.energy.per_step = site_energy(scenario, result.energy.chip.average, result.timeline.step);
}

/// Unlike partitions, each with its share of the batch; the faster ones wait for the slowest.
void answer_together(Answer& result, Network& network) {
  result.balance = balance(result.scenario, network);
  const Job job = mixed_job(result.scenario, result.balance->shares());
  const JobTime time = job_time(job, network);
  Flops executed;
  std::vector<Timeline> timelines;
  for (std::size_t p = 0; p < job.parts.size(); ++p) {
    const Scenario& seen = job.parts[p].scenario;
    CostModel cost(seen, network);
    Timeline timeline = run_analytic(job.parts[p].program, cost);
    executed += timeline.hardware_flops * static_cast<double>(seen.partition().chips());
    timelines.push_back(timeline);
    const Seconds waits = std::max(Seconds{0}, time.step - timeline.step);
    if (waits > time.step * 1e-9) { // beyond rounding
      timeline.breakdown.push_back({"other_partitions", waits, Activity::waiting});
      timeline.step += waits;
    }
    const ChipEnergy energy = chip_energy(timeline, cost.device().energy);
    result.energy.per_step += site_energy(seen, energy.average, timeline.step);
    result.partitions.push_back(
        {seen, result.balance->partitions[p], memory_footprint(seen), std::move(timeline), energy});
  }
  const PartitionAnswer& slowest = result.partitions[time.slowest];
  result.timeline = slowest.timeline;
  result.energy.chip = slowest.energy;
  result.memory = std::min_element(result.partitions.begin(), result.partitions.end(),
                                   [](const PartitionAnswer& a, const PartitionAnswer& b) {
                                     return a.memory.margin() < b.memory.margin();
                                   })
                      ->memory;
  result.headline = headline(result.scenario, result.timeline.step, executed);
  result.explanation = explain(job, network, timelines);
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
    out.push_back(fmt::format("a host keeps {} in {}, {}", format_binary(kept), where, of));
  };
  outside("its memory", memory.host, memory.host_capacity);
  outside("its drives", memory.drives, memory.drive_capacity);
}

void advise(Answer& result, CostModel& cost, Network& network) {
  const bool analytic_step = result.engine == Engine::analytic;
  const Seconds analytic = analytic_step ? result.timeline.step : step_time(result.program, cost);
  if (result.memory.fits()) {
    add_plan_what_ifs(result, analytic, network);
    return;
  }
  result.remedies = plans_with_less_memory(result.scenario, network);
  for (PlanChange& remedy : result.remedies)
    remedy.step = as_timed(result, remedy.step, analytic);
}

} // namespace

Answer answer(const Scenario& scenario, const RunOptions& options) {
  Answer result;
  result.engine = options.engine;
  result.scenario = scenario;
  warn_of_deep_cap(result.scenario);
  result.parameters = count_parameters(scenario.model);
  result.trained = trained_parameters(scenario);
  const auto network = std::make_shared<Network>(scenario.cluster);
  CostModel cost(scenario, *network);
  if (scenario.cluster.partitions.size() > 1) {
    result.engine = Engine::analytic;
    answer_together(result, *network);
  } else {
    answer_alike(result, cost, *network, options);
  }
  note_training(result);
  advise(result, cost, *network);
  result.network = network;
  if (scenario.prices.electricity) {
    result.electricity_per_step = result.energy.per_step * *scenario.prices.electricity;
  }
  return result;
}

} // namespace clustersim
