#pragma once
// The analytic engine: exact on the step program's semantics when nothing contends, in closed form.
//
// A block acts on the vector of clocks (host, compute, tensor lane, data lane) as a max-plus linear
// map: x' = A ⊗ x, x'_i = max_j (A_ij + x_j) (Baccelli, Cohen, Olsder, Quadrat, "Synchronization
// and Linearity", 1992, ch. 1). A sequence is a product of matrices, a loop a power, so a step
// costs O(blocks · log repeats) whatever the depth, and equals the event engine's result.

#include "engine/cost_model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// One operator over the whole step, for reports.
struct OpRecord {
  std::string block, name;
  Phase phase = Phase::forward;
  std::int64_t calls = 0;
  OpTime each;
  Flops model_flops; // per call
  Lane lane = Lane::compute;
  double hidden = 0.0; // share of a collective that may run beside the compute lane
  std::optional<Axis> axis = std::nullopt; // of a collective
  bool of_host = false;                    // a copy to or from the host, or its update
};

/// Seconds of the step by cause, exposed time only; sums to the step time by construction.
/// Whether the chip works in a share of the step, or waits.
enum class Activity { working, waiting };

struct BreakdownItem {
  std::string name; // "matrix", "memory_bound", "launch", "host", "tensor_parallel", …
  Seconds time;
  Activity activity = Activity::working;
};

struct Timeline {
  Seconds step;
  std::vector<BreakdownItem> breakdown; // fixed order
  std::vector<OpRecord> ops;            // program order, slowest class
  Flops hardware_flops;                 // executed by one rank
};

[[nodiscard]] Timeline run_analytic(const StepProgram& program, CostModel& cost);

/// The step time alone: what elasticities and search call.
[[nodiscard]] Seconds step_time(const StepProgram& program, CostModel& cost);

} // namespace clustersim
