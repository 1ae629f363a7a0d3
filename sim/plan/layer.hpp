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
/// Attention to an encoder's output: queries from the decoder's tokens, keys and values from the
/// encoder's.
struct CrossLinears {
  Linear queries, keys, projection;
};
[[nodiscard]] CrossLinears cross_linears(const Scenario& scenario, const Shard& shard);
/// Tokens of an encoder's output that a micro-batch's decoder looks at, and their hidden states.
[[nodiscard]] std::int64_t source_tokens(const Shard& shard);
[[nodiscard]] double source_elements(const Shard& shard);

[[nodiscard]] LayerLinears layer_linears(const Scenario& scenario, const Shard& shard);

/// An MLP of another width than the model's: the experts that work on every token.
struct MlpLinears {
  Linear up, down;
};
[[nodiscard]] MlpLinears mlp_linears(const Scenario& scenario, const Shard& shard,
                                     std::int64_t width);

/// Norms of a layer beyond one before attention and one before the MLP.
[[nodiscard]] std::int64_t extra_norms(const Transformer& model);
/// Queries and keys; of latent attention the rotary part of the queries, turned in place, and the
/// keys, which are put together with theirs.
[[nodiscard]] double rotary_elements(const Scenario& scenario, const Shard& shard);
[[nodiscard]] std::string layer_name(LayerKind kind);

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

/// The same of the attention to an encoder.
void append_cross_attention(BlockBuilder& builder, const Scenario& scenario, Shard shard);
void append_cross_attention_backward(BlockBuilder& builder, const Scenario& scenario, Shard shard);

[[nodiscard]] Block layer_forward(const Scenario& scenario, const Shard& shard, LayerKind kind,
                                  WeightUse use);
/// Of the layers that are trained.
[[nodiscard]] WeightUse layer_weights(const Scenario& scenario);
/// Parameters that a layer under the builder's use of weights trains.
[[nodiscard]] double trained_weights(const BlockBuilder& builder, const Scenario& scenario,
                                     LayerKind kind);
/// Appends what torchtitan's per-operator policy runs again: all but every other product and the
/// attention core.
void append_operators_again(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                            LayerKind kind);
/// With its recompute, gradient accumulation and casts.
[[nodiscard]] Block layer_backward(const Scenario& scenario, const Shard& shard, BackwardPart part,
                                   LayerKind kind, Recompute recompute);

} // namespace clustersim
