#pragma once
// What a plan keeps outside its chips, and the copies that follow (docs/explanation/offload.md).

#include "plan/block_builder.hpp"
#include "plan/trained.hpp"

namespace clustersim {

/// The host's cores update: the states live there or on its drives.
[[nodiscard]] bool updates_on_host(const Scenario& scenario);
/// And add up gradients there, so that chips keep none: where a rank reduces its part in every
/// micro-batch, or has no other rank to reduce with.
[[nodiscard]] bool keeps_gradients_on_host(const Scenario& scenario);
[[nodiscard]] bool brings_parameters(const Scenario& scenario);

/// Bytes between a chip and this tier, on the host's lane; the share `hidden` beside other work.
void append_to_tier(BlockBuilder& builder, Tier tier, Bytes bytes, double hidden);
void append_from_tier(BlockBuilder& builder, Tier tier, Bytes bytes, double hidden);

/// A layer's activations after its forward and before its backward pass.
[[nodiscard]] Bytes offloaded_activations(const Scenario& scenario, const Shard& shard,
                                          LayerKind kind, Recompute recompute);
/// This rank's part of weights that are brought in, or of gradients that are sent out.
void append_parameters(BlockBuilder& builder, const Scenario& scenario, Held weight_bytes,
                       double hidden);
void append_gradients(BlockBuilder& builder, const Scenario& scenario, Held parameters);
/// The host's update: its cores' traffic, drives beside it, and weights on their way back.
void append_host_update(BlockBuilder& builder, const Scenario& scenario, const Trained& trained,
                        Bytes traffic);

} // namespace clustersim
