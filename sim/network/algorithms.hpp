#pragma once
// The collective algorithms, one file each. The table is in collective.cpp.

#include "network/collective.hpp"

#include <vector>

namespace clustersim {

using Forms = std::vector<CollectiveForm>;

/// Passes over the payload: an all-gather or a reduce-scatter is one, an all-reduce is both, and
/// other kinds are none.
[[nodiscard]] constexpr double phases_of(CollectiveKind kind) {
  if (kind == CollectiveKind::all_reduce) return 2.0;
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ? 1.0 : 0.0;
}

Forms ring_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms tree_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms in_switch_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms multicast_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms direct_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms torus_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms hierarchical_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms all_pairs_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
Forms halving_doubling_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);

} // namespace clustersim
