#include "network/node_trees.hpp"

namespace clustersim {

int tree_parent(int node, int nodes) {
  if (node == 0) return -1;
  const int bit = node & -node;
  const int up = (node ^ bit) | (bit << 1);
  return up < nodes ? up : node ^ bit;
}

void NodeTrees::add(std::span<const Segment> group, double bytes, TreeWay way) {
  const int nodes = static_cast<int>(group.size());
  const auto send = [&](int a, int b) {
    const Segment &from = group[static_cast<std::size_t>(a)],
                  &to = group[static_cast<std::size_t>(b)];
    const auto [found, fresh] = bundles_.try_emplace({from.places, to.places, bytes});
    if (fresh) {
      found->second =
          traffic_->bundle(place_by_place(layout_->places(from), layout_->places(to), bytes / 2.0));
    }
    traffic_->move(from.node, to.node, found->second);
  };
  // The second tree is the mirror image for an even number of nodes, shifted by one for an odd one.
  const auto other = [&](int n) { return nodes % 2 == 0 ? nodes - 1 - n : (n + 1) % nodes; };
  for (int node = 1; node < nodes; ++node) {
    const int parent = tree_parent(node, nodes);
    for (const auto& [child, top] :
         {std::pair{node, parent}, std::pair{other(node), other(parent)}}) {
      if (way != TreeWay::down) send(child, top);
      if (way != TreeWay::up) send(top, child);
    }
  }
}

} // namespace clustersim
