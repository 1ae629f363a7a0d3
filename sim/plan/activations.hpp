#pragma once
// Bytes of activations that one rank keeps for backward (docs/explanation/memory.md).

#include "plan/shard.hpp"

namespace clustersim {

/// One layer and micro-batch, nothing recomputed. With GELU, dropout and unfused attention at one
/// rank the sum is s·b·h·(34 + 5·a·s/h) (Korthikanti et al. 2022, eq. 2).
struct LayerActivations {
  Bytes norms;     // inputs of the norms; operands of the column-parallel products
  Bytes attention; // Q, K, V and the operand of the output projection
  Bytes core;      // probabilities and their masks, or the fused kernel's statistics
  Bytes mlp;       // inputs of the activation and of the down projection
  Bytes masks;     // dropout after attention and MLP
  Bytes fusion;    // what the recipe's kernels keep besides
  Bytes adapters;  // outputs of their first factors
  [[nodiscard]] Bytes all() const {
    return norms + attention + core + mlp + masks + fusion + adapters;
  }
};

[[nodiscard]] LayerActivations layer_activations(const Scenario& scenario, const Shard& shard,
                                                 LayerKind kind = LayerKind::dense);

/// What stays of a layer between its forward and its backward pass under this recompute.
[[nodiscard]] Bytes kept_per_layer(const Scenario& scenario, const Shard& shard, LayerKind kind,
                                   Recompute recompute);
/// The same under the plan's.
[[nodiscard]] Bytes kept_per_layer(const Scenario& scenario, const Shard& shard,
                                   LayerKind kind = LayerKind::dense);
/// The tensor that a layer starts from.
[[nodiscard]] Bytes layer_input(const Shard& shard);
/// What the plan's recompute brings back for the layer, or the group of `layers`, whose backward
/// pass runs.
[[nodiscard]] Bytes restored_in_backward(const Scenario& scenario, const Shard& shard,
                                         LayerKind kind = LayerKind::dense,
                                         std::int64_t layers = 1);
/// Gradients of activations that live at the widest point of a layer's backward pass.
[[nodiscard]] Bytes gradients_in_flight(const Scenario& scenario, const Shard& shard,
                                        LayerKind kind = LayerKind::dense);

} // namespace clustersim
