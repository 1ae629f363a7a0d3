#pragma once
// Parts of plan_faults() that stand by themselves.

#include "spec/validate_plan.hpp"

#include <vector>

namespace clustersim {

/// Explicit layers of each stage: as many as the model has, in as many stages.
void add_layer_split_faults(const Scenario& scenario, std::vector<PlanFault>& faults);
/// Documents that fill the sequence, and pieces of the loss that it has tokens for.
void add_token_faults(const Scenario& scenario, std::vector<PlanFault>& faults);

} // namespace clustersim
