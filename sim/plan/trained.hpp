#pragma once
// Which parameters of a rank are trained, and as what: whole weights, or the adapters beside frozen
// ones (docs/explanation/fine-tuning.md). Optimizers treat matrices unlike the rest.

#include "plan/shard.hpp"
#include "plan/stage.hpp"

#include <cstdint>
#include <vector>

namespace clustersim {

/// One weight matrix of a layer on this rank, or `count` alike (its experts). `in_parts` and
/// `out_parts` ranks share its rows or columns.
struct WeightMatrix {
  Matrix place = Matrix::query;
  std::int64_t in = 0, out = 0;
  std::int64_t in_parts = 1, out_parts = 1;
  std::int64_t count = 1;
  bool routed = false;
};
[[nodiscard]] std::vector<WeightMatrix> layer_matrices(const Scenario& scenario, const Shard& shard,
                                                       LayerKind kind);
/// Of a layer that is trained: its own matrices, or two factors for each that has an adapter.
[[nodiscard]] std::vector<WeightMatrix> trained_matrices(const Scenario& scenario,
                                                         const Shard& shard, LayerKind kind);

/// Sums over parameters that are trained.
struct Trained {
  Held parameters;
  Held matrices;           // of them, those in matrices of layers
  Held factors;            // rows and columns of every matrix, parameters of every vector
  double tensors = 0.0;    // how many
  double replicated = 0.0; // of adapters: what all ranks of the tensor axis hold alike
  [[nodiscard]] Held rest() const { return parameters + -1.0 * matrices; }
};
[[nodiscard]] Trained operator+(const Trained& a, const Trained& b);
[[nodiscard]] Trained operator*(double count, const Trained& each);

[[nodiscard]] Trained trained_in_layer(const Scenario& scenario, LayerKind kind);
/// By what a chunk or a stage holds.
[[nodiscard]] Trained trained_in_layers(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] Trained trained_embedding(const Scenario& scenario, const StageParameters& held);
[[nodiscard]] Trained trained_head(const Scenario& scenario, const StageParameters& held);
[[nodiscard]] Trained trained_in(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] Trained trained_in(const Scenario& scenario, const Stage& stage);
/// Of the whole model.
[[nodiscard]] double trained_parameters(const Scenario& scenario);

/// Bytes, not parameters: the weights of a layer that is trained (its adapters included) or frozen.
/// A weight that is not trained has no master: it is stored as it is used, or narrower.
[[nodiscard]] Held layer_weight_bytes(const Scenario& scenario, LayerKind kind, bool frozen);
[[nodiscard]] Held weight_bytes(const Scenario& scenario, const Stage& stage);
/// Of the layers' matrices, those that are opened up before use; 0 where weights are used as
/// stored.
[[nodiscard]] Bytes largest_opened(const Scenario& scenario, const Shard& shard, LayerKind kind);

} // namespace clustersim
