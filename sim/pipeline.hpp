#pragma once
// load → build → lower → time → explain: one run on one page. Start reading here.

#include "analysis/energy.hpp"
#include "analysis/explain.hpp"
#include "analysis/plan_changes.hpp"
#include "engine/analytic.hpp"
#include "plan/lower.hpp"
#include "plan/memory.hpp"
#include "spec/scenario.hpp"

#include <memory>
#include <string>
#include <vector>

namespace clustersim {

/// The headline numbers, with the formulas they come from.
struct Headline {
  double tokens_per_second = 0, tokens_per_second_per_chip = 0, samples_per_second = 0;
  Flops model_flops, hardware_flops; // of one step, whole cluster
  FlopsPerSecond rate_per_chip;      // model FLOPs
  double mfu = 0, hfu = 0;
  std::string peak_basis; // "989.4 TFLOP/s dense bf16"
  FlopsPerSecond peak;
};

/// Electrical energy of a step (docs/explanation/power.md).
struct Energy {
  ChipEnergy chip;
  Joules per_step; // whole cluster, hosts in proportion and PUE included
};

struct Answer {
  Scenario scenario;
  std::shared_ptr<const Network> network; // what the timeline's collectives point into
  ParameterCount parameters;
  double trained = 0; // parameters; all of them unless something is frozen
  MemoryFootprint memory;
  Timeline timeline;
  Headline headline;
  Explanation explanation;
  std::vector<PlanChange> remedies; // only when it does not fit
  Energy energy;
  std::optional<Dollars> electricity_per_step;
};

[[nodiscard]] Answer answer(const Scenario& scenario);

} // namespace clustersim
