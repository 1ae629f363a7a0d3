#pragma once
// load → build → lower → time → explain: one run on one page. Start reading here.

#include "analysis/explain.hpp"
#include "engine/analytic.hpp"
#include "plan/lower.hpp"
#include "plan/memory.hpp"
#include "spec/scenario.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// The headline numbers, with the formulas they come from.
struct Headline {
  double tokens_per_second = 0, tokens_per_second_per_chip = 0, samples_per_second = 0;
  Flops model_flops, hardware_flops;     // of one step, whole cluster
  FlopsPerSecond rate_per_chip;          // model FLOPs
  double mfu = 0, hfu = 0;
  std::string peak_basis;                // "989.4 TFLOP/s dense bf16"
  FlopsPerSecond peak;
};

/// A cheap change of the plan, tried out.
struct Remedy {
  std::string change;                    // "recompute = full"
  Bytes peak;
  bool fits = false;
  double slowdown = 0.0;                 // of the step time
};

struct Answer {
  Scenario scenario;
  ParameterCount parameters;
  MemoryFootprint memory;
  Timeline timeline;
  Headline headline;
  Explanation explanation;
  std::vector<Remedy> remedies;          // only when it does not fit
  struct Energy {
    Watts chip_average;
    Joules per_step;                     // whole cluster, PUE included
  } energy;
  std::optional<Dollars> electricity_per_step;
};

[[nodiscard]] Answer answer(const Scenario& scenario);

} // namespace clustersim
