// Double binary tree across nodes, a chain inside each: what NCCL calls tree.
//
// Inside a node the chain carries the sum towards the NIC and the result back, rotated over as many
// channels as there are members: 2(g−1)/g bytes per payload byte and rank. Across nodes two trees
// carry half each; a node is a branch in one and a leaf in the other, so its NICs send up to 2
// bytes per payload byte together, and exactly 1 when there are two nodes (half of the ring's).
// Latency: 2(g−1) steps inside, 2·log2(N) across.
//
// Broadcast and reduction go one way only: half of the steps and of the bytes. NCCL sends them by
// ring alone, so they run on request (docs/explanation/collectives.md).

#include "network/algorithms.hpp"
#include "network/node_rings.hpp"
#include "network/node_trees.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace clustersim {

namespace {

TreeWay way_of(CollectiveKind kind) {
  if (kind == CollectiveKind::broadcast) return TreeWay::down;
  return kind == CollectiveKind::reduce ? TreeWay::up : TreeWay::both;
}

/// One node whose links carry no ring: a chain over them, the sum up and the result down. NCCL's
/// search settles for one, which like a ring takes one link at each step, also where two chips have
/// several: that link carries the whole payload each way. Nobody feeds two others, so that it is no
/// slower than a ring's.
Forms chain_forms(const LinkGraph& graph, Router& router, const Layout& layout, TreeWay way) {
  Traffic traffic(graph, router, layout);
  NodeRings rings(graph, traffic, layout, RingOrder::packed);
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    const Segment& all = layout.group(i).front();
    const Places& places = layout.places(all);
    if (places.size() > most_ring_members || !rings.cycles(all).empty()) return {};
    const LinkMatrix links = own_links(graph, router, all.node, places);
    const Cycle path = find_path(links);
    if (path.empty()) return {};
    traffic.serial.clear();
    std::vector<PlaceFlow> flows;
    const double steps = way == TreeWay::both ? 2.0 : 1.0;
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
      const std::uint32_t a = places[path[k]], b = places[path[k + 1]];
      // Of parallel links one is used: their edge is as busy as if all were.
      const double bytes = links[path[k]][path[k + 1]];
      if (way != TreeWay::up) flows.push_back({a, b, bytes});
      if (way != TreeWay::down) flows.push_back({b, a, bytes});
      traffic.serial.push_back({router.rank(all.node, a), router.rank(all.node, b), steps, steps});
    }
    traffic.move(all.node, all.node, traffic.bundle(std::move(flows)));
  }
  return forms_of(graph, "tree", traffic, ring_protocols(graph));
}

/// The chain inside a node; of unlike nodes, the longest.
std::optional<SerialHop> chain_inside(const LinkGraph& graph, Router& router, const Layout& layout,
                                      double directions) {
  std::optional<SerialHop> slowest;
  Seconds most;
  for (const Segment& segment : sorts_of(graph, layout.group(0))) {
    const Places& places = layout.places(segment);
    if (places.size() < 2) continue;
    const double steps = directions * static_cast<double>(places.size() - 1);
    const RankId from = router.rank(segment.node, places[0]),
                 to = router.rank(segment.node, places[1]);
    const Seconds length = router.pattern(from, to).latency * steps;
    if (slowest && !(length > most)) continue;
    slowest = SerialHop{from, to, steps, steps};
    most = length;
  }
  return slowest;
}

void add_steps(Traffic& traffic, const LinkGraph& graph, const Layout& layout, double directions) {
  const std::span<const Segment> first = layout.group(0);
  Router& router = traffic.router();
  const RankId root = router.rank(first.front().node, layout.places(first.front()).front());
  if (const auto inside = chain_inside(graph, router, layout, directions))
    traffic.serial.push_back(*inside);
  const double levels = directions * static_cast<double>(std::bit_width(first.size() - 1));
  const RankId far = router.rank(first.back().node, layout.places(first.back()).front());
  traffic.serial.push_back({root, far, levels, levels});
}

} // namespace

Forms tree_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family) {
  if ((kind != CollectiveKind::all_reduce && kind != CollectiveKind::broadcast &&
       kind != CollectiveKind::reduce) ||
      family.size < 2) {
    return {};
  }
  const Layout layout(graph, router, family);
  const TreeWay way = way_of(kind);
  const double directions = way == TreeWay::both ? 2.0 : 1.0;
  if (layout.group(0).size() == 1) return chain_forms(graph, router, layout, way);
  Forms forms;
  for (const RingOrder order : ring_orders(graph, router, layout, layout.group(0))) {
    Traffic traffic(graph, router, layout);
    traffic.local = 1.0 / family.size;
    NodeRings rings(graph, traffic, layout, order);
    NodeTrees trees(traffic, layout);
    for (std::size_t i = 0; i < layout.groups(); ++i) {
      const std::span<const Segment> group = layout.group(i);
      if (group.size() < 2 || !layout.even(group)) return {};
      const auto g = static_cast<double>(layout.size(group.front()));
      for (const Segment& segment : group)
        rings.add(segment, directions * (g - 1) / g);
      trees.add(group, 1.0 / g, way);
    }
    add_steps(traffic, graph, layout, directions);
    const Forms some = forms_of(graph, "tree", traffic, ring_protocols(graph, true));
    forms.insert(forms.end(), some.begin(), some.end());
  }
  return forms;
}

} // namespace clustersim
