#pragma once
// Double binary trees across the nodes of a group (Sanders, Speck, Träff, "Two-tree algorithms for
// full bandwidth broadcast, reduction and scan", 2009): a node is a branch in one and a leaf in the
// other.

#include "network/traffic.hpp"

#include <map>
#include <span>
#include <utility>

namespace clustersim {

/// The parent of `node` in the binary tree over `nodes` nodes, −1 at the root. Odd nodes are
/// leaves, so that the mirrored tree has its leaves where this one has its branches.
[[nodiscard]] int tree_parent(int node, int nodes);

/// Which way the payload goes: sums up to the root, results down from it.
enum class TreeWay { up, down, both };

class NodeTrees {
public:
  NodeTrees(Traffic& traffic, const Layout& layout) : traffic_(&traffic), layout_(&layout) {}
  /// By two trees, each with half of `bytes` between the members at the same place in each node's
  /// list; of every member.
  void add(std::span<const Segment> group, double bytes, TreeWay way);

private:
  Traffic* traffic_;
  const Layout* layout_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, double>, BundleId> bundles_;
};

} // namespace clustersim
