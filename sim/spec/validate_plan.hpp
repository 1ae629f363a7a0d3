#pragma once
// What a plan's axes need of the model, the batch and each other, once chips, tensor and data are
// known to fit.

#include "spec/validate.hpp"

#include <string>
#include <vector>

namespace clustersim {

inline constexpr std::int64_t most_pipeline_stages = 128;

/// One contradiction: the key to blame and the nearest values that work.
struct PlanFault {
  std::string key, message, expected;
};

/// Of a scenario whose chips, batch and tensor axis fit; empty = the plan can be run. Callers that
/// change plans ask here too.
[[nodiscard]] std::vector<PlanFault> plan_faults(const Scenario& scenario);

/// Whether embedding and head should take a layer's place: where layers do not divide, but two more
/// would.
[[nodiscard]] bool ends_should_count(const Scenario& scenario);

/// Fills the derived keys of the plan, reports its faults and says what was assumed.
void validate_plan_axes(Scenario& scenario, const Reading& reading, Diagnostics& out);

/// In what numbers micro-batches can be dealt out to a replica.
struct MicroBatchRule {
  std::int64_t multiple = 1, least = 1;
};
[[nodiscard]] MicroBatchRule micro_batch_rule(const Plan& plan);

/// "4 or 8": the divisors of `number` next to `wanted`, itself left out; at least 1.
[[nodiscard]] std::string nearest_divisors(std::int64_t number, std::int64_t wanted);
/// "12 or 16": the multiples of `unit` next to `wanted`.
[[nodiscard]] std::string nearest_multiples(std::int64_t unit, std::int64_t wanted);

} // namespace clustersim
