#pragma once
// The collective algorithms, one file each. The table is in collective.cpp.

#include "network/collective.hpp"

#include <vector>

namespace clustersim {

using Forms = std::vector<CollectiveForm>;

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
