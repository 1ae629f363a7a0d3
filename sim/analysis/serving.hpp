#pragma once
// Serving answered: time to the first token, time per token, throughput, memory, energy, and what
// binds each phase (docs/explanation/inference.md).

#include "analysis/energy.hpp"
#include "analysis/explain.hpp"
#include "plan/serving_memory.hpp"

#include <cstdint>
#include <memory>

namespace clustersim {

/// Prefill of the whole batch, or one decode step at the mean context; one micro-batch through all
/// stages where there is a pipeline.
struct ServingPhase {
  Timeline timeline;
  Explanation explanation;
  Joules energy;  // of all chips and their nodes, over `period`
  Seconds period; // until all of the batch are through: a pipeline may hold it up
};

struct ServingTimes {
  Seconds first_token;      // of one prompt alone
  Seconds first_of_batch;   // when all prompts of the batch come at once
  Seconds per_token;        // mean over the output
  Seconds at_start, at_end; // of the first and the last decode step
  Seconds request;          // a batch that starts and ends together
};

struct ServingAnswer {
  Scenario scenario;
  std::shared_ptr<const Network> network; // what the timelines' collectives point into
  ParameterCount parameters;
  MemoryFootprint memory;
  Bytes cache_per_token;    // whole model
  Bytes cache_per_sequence; // on one chip, prompt and output
  std::int64_t largest_batch = 0;
  ServingTimes times;
  double user_tokens_per_second = 0;   // of one sequence while it decodes
  double decode_tokens_per_second = 0; // of all copies while they decode
  double tokens_per_second = 0;        // output of all copies, prefill included
  double prompt_tokens_per_second = 0;
  ServingPhase prefill, decode;
  Bytes decode_traffic;                           // what a step cannot help reading on a chip
  Seconds decode_floor;                           // that, at the data sheet's bandwidth
  Joules per_output_token;                        // prefill included
  std::optional<Dollars> electricity_per_million; // output tokens
};

[[nodiscard]] ServingAnswer serve(const Scenario& scenario);

} // namespace clustersim
