#pragma once
// What a training run trains (docs/explanation/fine-tuning.md) and what it keeps outside the chips
// (docs/explanation/offload.md).

#include "base/precision.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// A weight matrix by its place in a layer. Latent attention: `latent` are the down projections,
/// `key` the joint up projection of keys and values.
enum class Matrix { query, key, value, output, gate, up, down, latent };

struct FineTuning {
  std::int64_t rank = 0;          // of low-rank adapters (LoRA); 0: weights themselves are trained
  std::vector<Matrix> targets;    // matrices that have an adapter
  std::int64_t frozen_layers = 0; // the first ones: no gradients reach them
  bool frozen_ends = false;       // tables, head and norms outside the layers are not trained
  std::optional<Precision> base;  // storage of the layers' frozen matrices, where it is narrower
  std::int64_t base_block = 64;   // values of it that share an FP32 scale
  bool double_quantised = false;  // those scales in 8 bits, an FP32 one for 256 of them

  [[nodiscard]] bool adapts() const { return rank > 0; }
  [[nodiscard]] bool adapts(Matrix matrix) const;
  [[nodiscard]] bool trains_all() const { return trains_embedding(); }
  /// Gradients reach the embedding only through layers that are all trained.
  [[nodiscard]] bool trains_embedding() const { return trains_head() && frozen_layers == 0; }
  [[nodiscard]] bool trains_head() const { return rank == 0 && !frozen_ends; }
};

/// Storage of one frozen weight in the base's format, scales included.
[[nodiscard]] double base_bytes(const FineTuning& tuning);

/// Where a model state lives between its uses.
enum class Tier { chip, host, nvme };

struct Offload {
  Tier optimizer = Tier::chip; // states, and the update itself, by the host's cores
  Tier parameters = Tier::chip;
  Tier activations = Tier::chip; // those kept between forward and backward
  [[nodiscard]] bool any() const { return uses(Tier::host) || uses(Tier::nvme); }
  [[nodiscard]] bool uses(Tier tier) const {
    return optimizer == tier || parameters == tier || activations == tier;
  }
};

} // namespace clustersim
