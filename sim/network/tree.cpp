// Double binary tree across nodes, a chain inside each: what NCCL calls tree.
//
// Inside a node the chain carries the sum towards the NIC and the result back, rotated over as many
// channels as there are members: 2(g−1)/g bytes per payload byte and rank. Across nodes two trees
// carry half each; a node is a branch in one and a leaf in the other, so its NICs send up to 2
// bytes per payload byte together, and exactly 1 when there are two nodes (half of the ring's).
// Latency: 2(g−1) steps inside, 2·log2(N) across.

#include "network/algorithms.hpp"
#include "network/traffic.hpp"

#include <bit>

namespace clustersim {

int tree_parent(int node, int nodes) {
  if (node == 0) return -1;
  const int bit = node & -node;
  const int up = (node ^ bit) | (bit << 1);
  return up < nodes ? up : node ^ bit;
}

void add_double_tree(Traffic& traffic, Router& router, const std::vector<RankId>& members,
                     const std::vector<NodeSegment>& segments, std::size_t local, double bytes) {
  const int nodes = static_cast<int>(segments.size());
  const auto rank = [&](int node) {
    return members[segments[static_cast<std::size_t>(node)].begin + local];
  };
  for (int node = 1; node < nodes; ++node) {
    const int parent = tree_parent(node, nodes);
    // The second tree is the mirror image for an even number of nodes, shifted by one for an odd
    // one.
    const auto other = [&](int n) { return nodes % 2 == 0 ? nodes - 1 - n : (n + 1) % nodes; };
    for (const auto& [child, top] :
         {std::pair{node, parent}, std::pair{other(node), other(parent)}}) {
      add_flow(traffic, router, rank(child), rank(top), bytes / 2.0);
      add_flow(traffic, router, rank(top), rank(child), bytes / 2.0);
    }
  }
}

namespace {

/// One node whose links carry no ring: a chain over them, the sum up and the result down, so that
/// each link carries the whole payload each way. NCCL's search settles for one.
Forms chain_forms(const LinkGraph& graph, Router& router, const GroupRange& groups) {
  Traffic traffic(graph);
  traffic.most_in_node = most_in_node(graph, groups);
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::vector<RankId> members = groups.members(i);
    const NodeSegment all{0, members.size()};
    if (members.size() > most_ring_members || !cycles_of(traffic, graph, members, all).empty()) {
      return {};
    }
    const Cycle path = find_path(own_links(graph, members, all));
    if (path.empty()) return {};
    traffic.serial.clear();
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      add_flow(traffic, router, members[path[k]], members[path[k + 1]], 1.0);
      add_flow(traffic, router, members[path[k + 1]], members[path[k]], 1.0);
      traffic.serial.push_back({members[path[k]], members[path[k + 1]], 2.0, 2.0});
    }
  }
  return forms_of(graph, router, "tree", traffic, ring_protocols(graph, true));
}

} // namespace

Forms tree_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family) {
  if (kind != CollectiveKind::all_reduce || family.size < 2) return {};
  const GroupRange groups(graph, family);
  if (node_segments(graph, groups.members(0)).size() == 1) {
    return chain_forms(graph, router, groups);
  }
  const std::vector<RankId> first = groups.members(0);
  Forms forms;
  for (const RingOrder order : ring_orders(graph, first)) {
    Traffic traffic(graph);
    traffic.local = 1.0 / family.size;
    traffic.most_in_node = most_in_node(graph, groups);
    for (std::size_t i = 0; i < groups.count(); ++i) {
      const std::vector<RankId> members = groups.members(i);
      const std::vector<NodeSegment> segments = node_segments(graph, members);
      if (segments.size() < 2 || !even(segments)) return {};
      const std::size_t g = segments.front().size();
      for (const NodeSegment& segment : segments) {
        add_ring(traffic, graph, router, members, segment,
                 2.0 * static_cast<double>(g - 1) / static_cast<double>(g), order);
      }
      for (std::size_t local = 0; local < g; ++local) {
        add_double_tree(traffic, router, members, segments, local, 1.0 / static_cast<double>(g));
      }
    }
    const std::vector<NodeSegment> segments = node_segments(graph, first);
    const std::size_t g = segments.front().size();
    const double inside = 2.0 * static_cast<double>(g - 1);
    if (g > 1) traffic.serial.push_back({first[0], first[1], inside, inside});
    const double levels = static_cast<double>(std::bit_width(segments.size() - 1));
    traffic.serial.push_back({first.front(), first[segments.back().begin], 2 * levels, 2 * levels});
    const Forms some = forms_of(graph, router, "tree", traffic, ring_protocols(graph, true));
    forms.insert(forms.end(), some.begin(), some.end());
  }
  return forms;
}

} // namespace clustersim
