#pragma once
// What another plan on the same cluster would give: faster ones that also fit, and, when the plan
// as given does not fit, the cheapest ones that do (docs/explanation/bottlenecks.md).

#include "engine/cost_model.hpp"
#include "plan/memory.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// A change of the plan, written as arguments of --set: "zero=1 recompute=full".
struct PlanChange {
  std::string change;
  Seconds step; // predicted
  Bytes peak;
  bool fits = false;
};

/// Plans that differ in one choice, fit and are faster than `step`; fastest first.
[[nodiscard]] std::vector<PlanChange> faster_plans(const Scenario& scenario, Seconds step,
                                                   Network& network);

/// For a plan that does not fit. First the combinations of changes that make it fit and of which
/// none can be left out, fastest first; then single changes that free memory, and the combination
/// that frees most. At most `count`.
[[nodiscard]] std::vector<PlanChange>
plans_with_less_memory(const Scenario& scenario, Network& network, std::size_t count = 3);

} // namespace clustersim
