#pragma once
// Memory of a chip that serves: weights, cached keys and values, workspace
// (docs/explanation/inference.md).

#include "plan/memory.hpp"

#include <cstdint>

namespace clustersim {

/// Of the fullest stage, with the cache as full as it gets: prompt and output of every sequence.
[[nodiscard]] MemoryFootprint serving_memory(const Scenario& scenario);

/// What one sequence of so many tokens keeps on a chip of the fullest stage, and what one token
/// keeps in the whole model, all ranks together where they hold different heads.
[[nodiscard]] Bytes cache_of_sequence(const Scenario& scenario, std::int64_t tokens);
[[nodiscard]] Bytes cache_of_token(const Scenario& scenario);

/// The largest batch that fits; 0 where not even one sequence does.
[[nodiscard]] std::int64_t largest_batch(const Scenario& scenario);

/// What a decode step cannot help reading on a chip: all weights of the layers and the head that
/// its tokens use, and the cache at this context; `sequences` at a time through a whole model.
[[nodiscard]] Bytes least_traffic(const Scenario& scenario, std::int64_t sequences,
                                  std::int64_t context);

} // namespace clustersim
