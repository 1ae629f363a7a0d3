#pragma once
// Shares of unlike partitions (docs/explanation/unlike-partitions.md). With T_p(m) the time of
// partition p before the update when each of its R_p replicas does m micro-batches, of N in all:
//
//   minimise max_p T_p(m_p)   over integers m_p   with Σ R_p·m_p ≥ N
//
// T_p grows with m, so the least level L is the smallest T_p(m) whose level set holds N micro-
// batches; found by bisection, exactly. What the whole numbers cost is told against shares that
// could be cut anywhere, T_p drawn straight from one whole number to the next.

#include "engine/cost_model.hpp"
#include "spec/scenario.hpp"

#include <cstdint>
#include <vector>

namespace clustersim {

struct PartitionShare {
  std::int64_t replicas = 0;
  std::int64_t micro_batches = 0; // of its busiest replica
  std::int64_t all = 0;           // of all its replicas
  Seconds each;                   // one micro-batch more
};

struct Balance {
  std::vector<PartitionShare> partitions;
  Seconds step;  // of these shares
  Seconds equal; // if every replica did the same
  Seconds ideal; // if micro-batches could be cut
  [[nodiscard]] std::vector<std::int64_t> shares() const;
};

/// Of a scenario of several partitions.
[[nodiscard]] Balance balance(const Scenario& scenario, Network& network);

} // namespace clustersim
