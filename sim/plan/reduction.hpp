#pragma once
// What the data axis does: gradient reduction and parameter gathers.

#include "plan/block_builder.hpp"
#include "plan/stage.hpp"

#include <cstdint>

namespace clustersim {

/// How a tensor of `layers` equal layers is cut into messages of about one bucket.
struct Buckets {
  std::int64_t layers_per_group = 1; // layers that fill a bucket together
  std::int64_t groups = 0;           // full groups
  std::int64_t rest = 0;             // layers of the last, partial group
  int calls_per_group = 1;           // buckets of a group, one layer larger than a bucket
};
[[nodiscard]] Buckets cut_into_buckets(std::int64_t layers, Bytes per_layer, Bytes bucket);
/// The stack's bucket for this many data-parallel ranks; 0 = no buckets. Megatron-Core grows
/// buckets with the ranks, so that a ring's latency, which grows with them too, stays a small
/// share.
[[nodiscard]] Bytes bucket_size(const Scenario& scenario);
/// Messages that `bytes` make by themselves.
[[nodiscard]] int calls_of(Bytes bytes, Bytes bucket);

/// Whether gradients are reduced at all, and how.
[[nodiscard]] bool reduces_gradients(const Scenario& scenario);
/// ZeRO-1 gathers updated parameters; a stack that hides it does so behind the next forward pass.
[[nodiscard]] bool gathers_in_forward(const Scenario& scenario);
/// ZeRO-2 and 3 keep no whole gradient between micro-batches, ZeRO-3 no whole weights.
[[nodiscard]] bool reduces_every_micro_batch(const Scenario& scenario);
[[nodiscard]] bool gathers_always(const Scenario& scenario);
/// Whether the stack reduces gradients while passes run, or after the last of them.
[[nodiscard]] bool hides_reduction(const Scenario& scenario);
/// Share of a parameter gather that hides behind layers.
[[nodiscard]] double gather_overlap(const Scenario& scenario);
/// ZeRO-3 gathers layer by layer, ZeRO-1 bucket by bucket.
[[nodiscard]] Buckets gather_units(const Scenario& scenario, std::int64_t layers, Bytes per_layer);

/// What a pass sends to the neighbouring stage: the hidden states of a micro-batch; within a
/// decoder these are its own and its encoder's output.
[[nodiscard]] Block stage_send(const Scenario& scenario, const Shard& shard, Phase phase,
                               bool in_decoder);

/// On the data lane, over `bytes` of this rank's gradients.
[[nodiscard]] Block gradient_reduction(const Scenario& scenario, const Shard& shard,
                                       std::string name, Held parameters, int calls);
/// Gathers so many bytes of parameters; `hidden` 0 where nothing can hide it.
[[nodiscard]] Block parameter_gather(const Scenario& scenario, const Shard& shard, std::string name,
                                     Held bytes, double hidden);
/// What such a gather carries, in bytes: under ZeRO-3 all weights, else what the step changed.
[[nodiscard]] Held layer_to_gather(const Scenario& scenario, LayerKind kind, bool frozen);
[[nodiscard]] Held embedding_to_gather(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] Held head_to_gather(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] Held chunk_to_gather(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] Block join_data(const Scenario& scenario, const Shard& shard);

} // namespace clustersim
