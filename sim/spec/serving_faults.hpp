#pragma once
// What serving needs of the model and the plan.

#include "spec/validate_plan.hpp"

#include <vector>

namespace clustersim {

/// Of a scenario that serves and whose axes fit the chips; empty = it can be run.
[[nodiscard]] std::vector<PlanFault> serving_faults(const Scenario& scenario);

} // namespace clustersim
