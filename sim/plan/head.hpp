#pragma once
// Before the first and after the last layer: embedding, final norm, vocabulary head and loss.

#include "plan/block_builder.hpp"

namespace clustersim {

[[nodiscard]] Block embedding_forward(const Scenario& scenario, const Shard& shard);
[[nodiscard]] Block embedding_backward(const Scenario& scenario, const Shard& shard,
                                       BackwardPart part);
[[nodiscard]] Block head_forward(const Scenario& scenario, const Shard& shard);
[[nodiscard]] Block head_backward(const Scenario& scenario, const Shard& shard, BackwardPart part);

} // namespace clustersim
