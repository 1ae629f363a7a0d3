#pragma once
// What serving needs of the model and the plan.

#include "spec/validate_plan.hpp"

#include <vector>

namespace clustersim {

/// Fills what lowering reads as the training of it: prompts are its sequences. Reports keys that
/// mean nothing to a model that serves.
void derive_serving(ScenarioInput& input, const Reading& reading, Diagnostics& out);

/// Of a scenario that serves and whose axes fit the chips; empty = it can be run.
[[nodiscard]] std::vector<PlanFault> serving_faults(const Scenario& scenario);

} // namespace clustersim
