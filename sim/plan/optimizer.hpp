#pragma once
// The update at the end of a step (docs/explanation/optimizer.md).

#include "plan/block_builder.hpp"
#include "plan/stage.hpp"

#include <cstdint>
#include <vector>

namespace clustersim {

/// Norm, clipping, update, and gathers that nothing hides; zeroing of gradients at the end.
[[nodiscard]] Block optimizer(const Scenario& scenario, const Shard& shard, const Stage& stage);

/// A block that runs so many times.
struct Repeated {
  Block block;
  std::int64_t count = 1;
};
/// What precedes the update where the rule orthogonalises matrices: nothing, or by kind of layer
/// the gather of a whole matrix from the ranks that share it, and the rounds of products on it.
/// With sharded states a rank does its share of the layers, for which all of the data axis send
/// theirs.
[[nodiscard]] std::vector<Repeated> orthogonalisation(const Scenario& scenario, const Shard& shard,
                                                      const Stage& stage);

} // namespace clustersim
