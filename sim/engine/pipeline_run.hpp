#pragma once
// A pipeline through its schedule: every stage has its own clocks, every pass is the max-plus map
// of its sequence, and a pass waits for what its neighbour sent. So uneven stages, hosts that fall
// behind and reductions under the last passes are all exact. Beyond the micro-batches after which a
// schedule repeats itself the time grows by the period's (docs/explanation/pipeline.md).

#include "engine/clocks.hpp"

#include <cstdint>
#include <vector>

namespace clustersim {

/// How often a stage runs each sequence in a step.
[[nodiscard]] std::vector<std::int64_t> count_passes(const StepProgram& program, std::size_t stage);

/// One step: the schedule, then the update once all stages are through.
[[nodiscard]] double pipeline_makespan(const StepProgram& program, const std::vector<Clocks>& maps,
                                       const Waits& waits);

} // namespace clustersim
