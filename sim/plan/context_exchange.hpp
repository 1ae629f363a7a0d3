#pragma once
// Attention over a sequence that several ranks share (docs/explanation/context.md).

#include "plan/block_builder.hpp"

namespace clustersim {

/// One fused kernel over `length` tokens, for the heads of this rank.
[[nodiscard]] AttentionShape fused_attention(const Scenario& scenario, const Shard& shard,
                                             std::int64_t length, bool backward);

/// The fused core with its exchange of keys and values. `forward` is the model's FLOPs of this
/// rank's forward pass. Ring: K and V travel, one block of attention per stop. Gather: K and V of
/// the whole sequence first. Ulysses: heads for tokens and back.
void append_shared_attention(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                             Flops forward, bool backward);

/// The exchange alone, for attention that is no single kernel.
void append_exchange_before(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                            bool backward);
void append_exchange_after(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                           bool backward);

/// Keys and values that are on a rank beside its own while a layer runs.
[[nodiscard]] Bytes exchange_buffer(const Scenario& scenario, const Shard& shard);

} // namespace clustersim
