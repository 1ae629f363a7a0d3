#pragma once
// The order in which a pipeline stage works through its chunks and micro-batches
// (docs/explanation/pipeline.md). A pipe is a chain of places that every one of its micro-batches
// passes forward and back again: one chain of P places under GPipe and 1F1B, of P·v when stages
// hold v chunks in turn, two chains in opposite directions under DualPipe.

#include "spec/scenario.hpp"

#include <cstdint>
#include <vector>

namespace clustersim {

struct PipelineSchedule {
  Schedule kind = Schedule::one_f_one_b;
  int stages = 1, chunks = 1;     // chunks per stage
  std::int64_t micro_batches = 1; // of one replica and step
};

struct Task {
  enum class Kind { forward, backward, input_gradient, weight_gradient } kind = Kind::forward;
  int chunk = 0;
  std::int64_t micro_batch = 0; // counted within its pipe
  bool with_next = false;       // starts together with the next task, and both send at the end
  friend bool operator==(const Task&, const Task&) = default;
};

struct PipePlace {
  int stage = 0, chunk = 0;
};

/// The places of each pipe, first to last.
[[nodiscard]] std::vector<std::vector<PipePlace>> pipes_of(const PipelineSchedule& schedule);
/// Micro-batches of one pipe.
[[nodiscard]] std::int64_t per_pipe(const PipelineSchedule& schedule);
/// Whether backward is split into input and weight gradients anywhere.
[[nodiscard]] bool splits_backward(Schedule kind);

/// Everything that a stage does for one step, in order.
[[nodiscard]] std::vector<Task> task_order(const PipelineSchedule& schedule, int stage);

/// After this many micro-batches (all multiples of the first figure) an order repeats itself; an
/// equal schedule of fewer micro-batches in the same place of the period, for engines and memory.
[[nodiscard]] std::int64_t schedule_period(const PipelineSchedule& schedule);
[[nodiscard]] PipelineSchedule shortened(const PipelineSchedule& schedule);

/// Micro-batches whose activations each chunk holds when `weights` of them weigh most: a
/// micro-batch is held from its forward pass until its weights' gradients are done.
[[nodiscard]] std::vector<std::int64_t> in_flight(const PipelineSchedule& schedule, int stage,
                                                  const std::vector<double>& weights);

} // namespace clustersim
