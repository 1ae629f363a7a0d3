#include "study/plan_rating.hpp"

#include "pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

/// Sums are taken in another order than the engine's: a bound may not exceed by rounding.
constexpr double slack = 1.0 - 1e-9;

Seconds longer(const Occupancy& one) {
  return std::max(one.host, one.compute);
}

/// Forward and backward of a micro-batch take T over P stages. Stage s cannot begin before those in
/// front of it have passed one micro-batch on, nor end before these have passed it back, so the
/// step is at least max over s of (t_0 + … + t_{s−1}) + m·t_s. However T is shared out, that
/// is no less than T / (1 − (1 − 1/m)^P): the shares that make all these sums equal.
double stages_in_a_row(double m, double stages) {
  return 1.0 / -std::expm1(stages * std::log1p(-1.0 / m));
}

} // namespace

PlanRater::PlanRater(const Scenario& scenario, Objective objective)
    : scenario_(bare(scenario)), objective_(objective), vocabulary_(scenario.model.vocabulary),
      network_(scenario.cluster), cost_(scenario_, network_) {}

CellFloor::Parts PlanRater::parts(Schedule schedule) {
  scenario_.plan.schedule = schedule;
  const std::vector<Occupancy> by_part = occupancy(lower_one_micro_batch(scenario_), cost_);
  const auto of = [&](MicroBatchPart part) { return by_part[static_cast<std::size_t>(part)]; };
  return {of(MicroBatchPart::whole), of(MicroBatchPart::layer), of(MicroBatchPart::layer_forward),
          of(MicroBatchPart::head)};
}

CellFloor PlanRater::floor_of(const PlanCell& cell) {
  adopt(scenario_, cell.plan, vocabulary_);
  CellFloor floor;
  floor.plain = parts(Schedule::one_f_one_b);
  floor.split = parts(Schedule::zero_bubble);
  const double batch = static_cast<double>(scenario_.training.global_batch);
  const double ranks_each = static_cast<double>(cell.plan.tensor) * cell.plan.context;
  const double share =
      batch * ranks_each / (scenario_.cluster.chips() * static_cast<double>(cell.plan.micro_batch));
  const Seconds least = std::min(longer(floor.plain.whole), longer(floor.split.whole)) * share;
  const Joules work = std::min(floor.plain.whole.work, floor.split.whole.work) * share;
  floor.score = score_of(least * (cost_.straggler() * slack), work * slack, Bytes{0});
  return floor;
}

/// With equal stages of k layers: the last one begins when its pipe's first micro-batch has passed
/// all others, does all its work, head included, and unless backward is split its last micro-batch
/// has to pass back through the others.
Seconds PlanRater::least_of_equal_stages(const CellFloor::Parts& parts, const Plan& plan,
                                         double micro_batches) const {
  const double others = plan.pipeline - 1.0;
  const int to_middle = plan.pipeline / 2 - 1;
  const double chunks = plan.virtual_stages;
  const double layers = static_cast<double>(scenario_.model.layers) / plan.pipeline;
  const Seconds stage = parts.layer.compute * layers;
  const Seconds all = (stage + parts.head.compute) * micro_batches;
  switch (plan.schedule) {
  case Schedule::gpipe:
  case Schedule::one_f_one_b:
    return all + stage * (others / chunks);
  case Schedule::zero_bubble:
    return all + parts.layer_forward.compute * (layers * others);
  case Schedule::dual_pipe:
    // Half of the micro-batches have their head on this stage. Or in the middle of the pipeline:
    // nothing to do until a micro-batch of either end has come there.
    return std::max(stage * micro_batches + parts.head.compute * (micro_batches / 2.0),
                    stage * micro_batches + parts.layer_forward.compute * (layers * to_middle));
  }
  return all;
}

double PlanRater::micro_batches_of(const Plan& plan) const {
  const std::int64_t count = scenario_.training.global_batch / (plan.data * plan.micro_batch);
  return static_cast<double>(count);
}

Seconds PlanRater::least_step(const CellFloor& floor, const Plan& plan) const {
  const CellFloor::Parts& parts = splits_backward(plan.schedule) ? floor.split : floor.plain;
  const double stages = plan.pipeline;
  const double micro_batches = micro_batches_of(plan);
  Seconds least = longer(parts.whole) * (micro_batches / stages);
  if (plan.pipeline > 1) {
    if (!splits_backward(plan.schedule) && plan.virtual_stages == 1 && micro_batches > 1.0) {
      least = std::max(least, parts.whole.compute * stages_in_a_row(micro_batches, stages));
    }
    if (all_layers(scenario_.model) % (std::int64_t{plan.pipeline} * plan.virtual_stages) == 0) {
      least = std::max(least, least_of_equal_stages(parts, plan, micro_batches));
    }
  }
  return least * (cost_.straggler() * slack);
}

double PlanRater::least_score(const CellFloor& floor, const Plan& plan) const {
  const CellFloor::Parts& parts = splits_backward(plan.schedule) ? floor.split : floor.plain;
  const double micro_batches = micro_batches_of(plan);
  const Joules work = parts.whole.work * (micro_batches / plan.pipeline);
  return score_of(least_step(floor, plan), work * slack, Bytes{0});
}

bool PlanRater::needs_energy() const {
  return objective_ == Objective::energy ||
         (needs_prices(objective_) && scenario_.prices.electricity.has_value());
}

Joules PlanRater::energy_of_step(Seconds step, Joules chip_work) const {
  const Partition& partition = scenario_.cluster.partitions.front();
  const double chips = scenario_.cluster.chips();
  const Watts idle = cost_.device().energy.idle * chips +
                     beside_the_chips(scenario_) * static_cast<double>(partition.nodes);
  return (idle * step + chip_work * chips) * scenario_.power.pue;
}

Dollars PlanRater::cost_of(Seconds step, Joules energy) const {
  Dollars cost;
  const double chips = scenario_.cluster.chips();
  if (const auto& rent = scenario_.chip().cloud_price) cost += *rent * step * chips;
  if (const auto& price = scenario_.prices.electricity) cost += *price * energy;
  return cost;
}

double PlanRater::score_of(Seconds step, Joules chip_work, Bytes used) const {
  if (objective_ == Objective::step_time) return step.si();
  if (objective_ == Objective::memory) return used.si();
  const Joules energy = energy_of_step(step, chip_work);
  return objective_ == Objective::energy ? energy.si() : cost_of(step, energy).si();
}

Refusal PlanRater::refusal(const Plan& plan) {
  adopt(scenario_, plan, vocabulary_);
  return refusal_of(scenario_);
}

void PlanRater::take(const Plan& plan) {
  adopt(scenario_, plan, vocabulary_);
}

Bytes PlanRater::least_shortage() {
  return Bytes{0} - first_stage_footprint(scenario_).margin();
}

FoundPlan PlanRater::sized() {
  const MemoryFootprint memory = memory_footprint(scenario_);
  FoundPlan found;
  found.plan = scenario_.plan;
  found.used = memory.peak + memory.reserve;
  found.usable = memory.usable;
  return found;
}

FoundPlan PlanRater::timed(FoundPlan found) {
  const StepProgram program = lower(scenario_);
  Joules work;
  if (needs_energy()) {
    const Timeline timeline = run_analytic(program, cost_);
    work = work_of(timeline);
    found.step = timeline.step;
  } else {
    found.step = step_time(program, cost_);
  }
  found.score = score_of(found.step, work, found.used);
  return found;
}

/// Above idle power, of the busiest chip.
Joules PlanRater::work_of(const Timeline& timeline) const {
  const EnergyRates& rates = cost_.device().energy;
  return (chip_energy(timeline, rates).average - rates.idle) * timeline.step;
}

void PlanRater::add_energy_and_cost(FoundPlan& found) {
  const Timeline timeline = run_analytic(lower(scenario_), cost_);
  found.energy = energy_of_step(timeline.step, work_of(timeline));
  if (scenario_.chip().cloud_price || scenario_.prices.electricity) {
    found.cost = cost_of(found.step, *found.energy);
  }
}

} // namespace clustersim
