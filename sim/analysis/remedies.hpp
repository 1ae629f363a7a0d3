#pragma once
// When a plan does not fit: cheap changes of it, tried out one by one.

#include "plan/memory.hpp"
#include "spec/scenario.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// A change of the plan with its predicted price.
struct Remedy {
  std::string change; // "plan.recompute = full"
  Bytes peak;
  bool fits = false;
  double slowdown = 0.0; // of the step time against the plan as given; negative = faster
};

/// The changes that free memory, those that make it fit first, then by slowdown; at most `count`.
[[nodiscard]] std::vector<Remedy> find_remedies(const Scenario& scenario, Seconds step,
                                                std::size_t count = 3);

} // namespace clustersim
