#pragma once
// A mixture of experts on one rank (docs/explanation/experts.md).

#include "plan/block_builder.hpp"

namespace clustersim {

/// Tokens and widths of the routed experts on the busiest rank.
struct ExpertShard {
  std::int64_t sent = 0;     // copies of its own tokens that a rank sends out: top_k of each
  std::int64_t received = 0; // copies that its experts work on
  std::int64_t experts = 0;  // on this rank
  std::int64_t rows = 0;     // copies per expert
  std::int64_t ffn = 0, up = 0;
};
/// Whether serving finds all tokens of its experts on this rank already: those of the tensor group,
/// which are the same on all its ranks.
[[nodiscard]] bool experts_are_near(const Scenario& scenario);
[[nodiscard]] ExpertShard expert_shard(const Scenario& scenario, const Shard& shard);

/// Router, permutation, dispatch, experts, combination. Every tensor-parallel rank routes its own
/// part of the tokens; without sequence parallelism the parts are gathered again at the end.
void append_experts_forward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard);
void append_experts_backward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard);

} // namespace clustersim
