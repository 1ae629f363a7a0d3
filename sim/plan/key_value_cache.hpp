#pragma once
// Keys and values of tokens seen before, as serving keeps them (docs/explanation/inference.md).

#include "plan/block_builder.hpp"

namespace clustersim {

/// Elements that one token keeps in one layer on one rank: K and V of its heads, or the latent.
[[nodiscard]] std::int64_t cached_width(const Scenario& scenario, const Shard& shard);
/// Of one layer of this kind, for one sequence of so many tokens: a window keeps no more than it
/// sees.
[[nodiscard]] Bytes cached_by_layer(const Scenario& scenario, const Shard& shard, LayerKind kind,
                                    std::int64_t tokens);

/// The new tokens' keys and values join the cache.
void append_cache_write(BlockBuilder& builder, const Scenario& scenario, const Shard& shard);
/// One query of each sequence over its cache. Latent attention takes the up projections of keys and
/// values to the queries' side and reads latents alone (DeepSeek-V2, arXiv 2405.04434, section
/// 2.1.2).
void append_decode_attention(BlockBuilder& builder, const Scenario& scenario, const Shard& shard);

} // namespace clustersim
