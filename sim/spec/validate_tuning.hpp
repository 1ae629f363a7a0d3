#pragma once
// Contradictions of [finetune] and [plan.offload], and what is derived there.

#include "spec/validate.hpp"
#include "spec/validate_plan.hpp"

#include <vector>

namespace clustersim {

/// Contradictions that a change of the plan can bring about.
[[nodiscard]] std::vector<PlanFault> offload_faults(const Scenario& scenario);

/// Reads the targets of adapters, reports what does not go together, and says what is trained.
void validate_tuning(ScenarioInput& input, const Reading& reading, Diagnostics& out);

} // namespace clustersim
