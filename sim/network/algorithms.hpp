#pragma once
// The collective algorithms, one file each. The table is in collective.cpp.

#include "network/collective.hpp"

#include <vector>

namespace clustersim {

using Forms = std::vector<CollectiveForm>;

Forms ring_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);      // ring.cpp
Forms tree_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);      // tree.cpp
Forms in_switch_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily); // in_switch.cpp
Forms direct_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);    // direct.cpp
Forms torus_forms(const LinkGraph&, Router&, CollectiveKind, GroupFamily);     // torus.cpp
Forms hierarchical_forms(const LinkGraph&, Router&, CollectiveKind,
                         GroupFamily); // hierarchical.cpp

/// The parent of `node` in the binary tree over `nodes` nodes, −1 at the root (tree.cpp). Odd nodes
/// are leaves, so that the mirrored tree has its leaves where this one has its branches (Sanders,
/// Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009).
[[nodiscard]] int tree_parent(int node, int nodes);
/// All-reduce across nodes by two such trees, each with half of `bytes`, between the members at
/// place `local` of each node.
struct Traffic;
struct NodeSegment;
void add_double_tree(Traffic& traffic, Router& router, const std::vector<RankId>& members,
                     const std::vector<NodeSegment>& segments, std::size_t local, double bytes);

} // namespace clustersim
