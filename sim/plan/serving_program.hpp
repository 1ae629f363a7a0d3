#pragma once
// Serving as step programs: the prefill of prompts, and one decode step
// (docs/explanation/inference.md). With a pipeline the batch is shared out over as many
// micro-batches as there are stages, as far as it goes.

#include "plan/step_program.hpp"
#include "spec/scenario.hpp"

namespace clustersim {

/// A micro-batch through all stages one after another, or through the slowest of them: the last,
/// which has the head.
enum class Part { all_stages, last_stage };

/// Micro-batches that a batch of this many sequences goes through a pipeline in, and the sequences
/// of one.
struct ServingSplit {
  std::int64_t micro_batches = 1, sequences = 1;
};
[[nodiscard]] ServingSplit split_of(const Scenario& scenario, std::int64_t batch);

/// Prompts of so many sequences, in passes of at most `inference.chunk` tokens.
[[nodiscard]] StepProgram prefill_program(const Scenario& scenario, std::int64_t sequences,
                                          Part part);
/// One token for each of so many sequences, of which each has `context` keys.
[[nodiscard]] StepProgram decode_program(const Scenario& scenario, std::int64_t sequences,
                                         std::int64_t context, Part part);

} // namespace clustersim
