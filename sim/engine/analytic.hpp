#pragma once
// The analytic engine: exact on the step program's semantics when nothing contends, in closed form.
//
// A block acts on the vector of clocks (host, compute, tensor lane, data lane) as a max-plus linear
// map: x' = A ⊗ x, x'_i = max_j (A_ij + x_j) (Baccelli, Cohen, Olsder, Quadrat, "Synchronization
// and Linearity", 1992, ch. 1). A sequence is a product of matrices, a loop a power, so a step
// costs O(blocks · log repeats) whatever the depth, and equals the event engine's result.

#include "engine/timeline.hpp"

namespace clustersim {

[[nodiscard]] Timeline run_analytic(const StepProgram& program, CostModel& cost);

/// The step time alone: what elasticities and search call.
[[nodiscard]] Seconds step_time(const StepProgram& program, CostModel& cost);

/// How long a class of a program keeps host and compute lane occupied: no less passes, however its
/// sequence is repeated, cut up or delayed. And the work above idle power.
struct Occupancy {
  Seconds host, compute;
  Joules work;
};
/// By class.
[[nodiscard]] std::vector<Occupancy> occupancy(const StepProgram& program, CostModel& cost);

} // namespace clustersim
