#pragma once
// Why the step takes as long as it does: elasticities, verdict, what-ifs
// (docs/explanation/bottlenecks.md).
//
//   e_r = −∂ln(step time)/∂ln(speed of r), one-sided (what an improvement gives), by re-timing with
//   r scaled by 1 %. Step time is homogeneous of degree one in its time constants, so Σ e_r = 1.

#include "engine/job.hpp"
#include "plan/memory.hpp"

#include <string>
#include <vector>

namespace clustersim {

struct Elasticity {
  std::string
      resource; // "matrix rate", "memory bandwidth", "nvlink4 bandwidth", "host dispatch", …
  double value = 0.0;
  double doubled = 0.0; // share of the step saved when the resource doubles
  double spread = 0.0;  // of its speed: one standard deviation of the logarithm
};

struct WhatIf {
  std::string change; // "10 % faster matrix units", or of the plan: "recompute=none"
  Seconds step;       // predicted
  double gain = 0.0;  // share of the step saved, positive = faster
  bool plan = false;  // costs nothing but another plan on the same machine
};

/// Where four of five measured steps are expected (docs/explanation/uncertainty.md):
///   T · exp(±1.28 σ),  σ² = Σ (e_r · spread_r)² + spread_stack²
/// to first order in the spreads, taken as independent.
struct StepRange {
  Seconds low, high;
};

struct Explanation {
  std::vector<Elasticity> elasticities; // largest first
  std::string resource;                 // the bottleneck
  std::string verdict;                  // one plain sentence
  StepRange range;
  std::vector<WhatIf> what_ifs; // of the hardware, best first, at least three
};

/// The range alone, from the slopes: what validation asks of each of its rows.
[[nodiscard]] StepRange step_range(const Scenario& scenario, const StepProgram& program,
                                   Network& network, const Timeline& timeline);

[[nodiscard]] Explanation explain(const Scenario& scenario, const StepProgram& program,
                                  Network& network, const Timeline& timeline,
                                  Engine engine = Engine::analytic);
/// Of unlike partitions together: a resource is made faster in all of them. One timeline for each.
[[nodiscard]] Explanation explain(const Job& job, Network& network,
                                  const std::vector<Timeline>& timelines,
                                  Engine engine = Engine::analytic);

} // namespace clustersim
