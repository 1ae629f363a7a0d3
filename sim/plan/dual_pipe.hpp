#pragma once
// DualPipe (DeepSeek-V3 technical report, arXiv 2412.19437, §3.2.1): micro-batches enter from both
// ends, and every stage holds one chunk of each direction.

#include "plan/schedule.hpp"

namespace clustersim {

/// Needs an even number of stages, and an even number of micro-batches of at least twice as many.
[[nodiscard]] std::vector<Task> dual_pipe_order(const PipelineSchedule& schedule, int stage);

} // namespace clustersim
