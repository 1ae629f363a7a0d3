#pragma once
// One transformer layer on one tensor-parallel rank (docs/explanation/lowering.md).

#include "plan/block_builder.hpp"

namespace clustersim {

/// Launches of a kernel that touches every parameter of a layer: one per weight matrix.
inline constexpr int matrices_per_layer = 4;

/// The weight products of a layer.
struct LayerLinears {
  Linear qkv, projection, up, down;
  Linear latent, queries, keys; // latent attention has these in place of qkv
};
[[nodiscard]] LayerLinears layer_linears(const Scenario& scenario, const Shard& shard);

/// An MLP of another width than the model's: the experts that work on every token.
struct MlpLinears {
  Linear up, down;
};
[[nodiscard]] MlpLinears mlp_linears(const Scenario& scenario, const Shard& shard,
                                     std::int64_t width);

/// 2·tokens·in·out of the whole model, one rank's even share.
[[nodiscard]] Flops linear_flops(const Shard& shard, double in, double out);

/// Appends a forward pass of the layer; the builder's phase says whether it is the first or a
/// re-run.
void append_layer_forward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                          LayerKind kind);
/// The attention core alone: what selective recompute runs again.
void append_attention_core(BlockBuilder& builder, const Scenario& scenario, const Shard& shard);
void append_attention_core_backward(BlockBuilder& builder, const Scenario& scenario,
                                    const Shard& shard);

[[nodiscard]] Block layer_forward(const Scenario& scenario, const Shard& shard, LayerKind kind);
/// Appends what torchtitan's per-operator policy runs again: all but every other product and the
/// attention core.
void append_operators_again(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                            LayerKind kind);
/// With its recompute, gradient accumulation and casts.
[[nodiscard]] Block layer_backward(const Scenario& scenario, const Shard& shard, BackwardPart part,
                                   LayerKind kind, Recompute recompute);

} // namespace clustersim
