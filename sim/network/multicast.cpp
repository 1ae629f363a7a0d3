// Broadcast and reduction by a switch that multicasts and reduces: the root sends its payload once
// and every port receives it once; a reduction is the same the other way. Across nodes each member
// carries 1/g of the payload along a double tree and multicasts it in its own node.

#include "network/algorithms.hpp"
#include "network/node_trees.hpp"
#include "network/switch_ports.hpp"

#include <bit>
#include <map>
#include <tuple>
#include <utility>

namespace clustersim {

namespace {

/// The root's port carries all of the payload towards the switch, other nodes' ports 1/g each; all
/// of it comes back to every port.
std::vector<EdgeFlow> flows(const std::vector<SwitchPort>& ports, bool root, bool reduces) {
  std::vector<EdgeFlow> made;
  const double share = 1.0 / static_cast<double>(ports.size());
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const SwitchPort& port = ports[i];
    const double few = root ? (i == 0 ? 1.0 : 0.0) : share;
    made.push_back({reduces ? port.in : port.out, port.transport, few});
    made.push_back({reduces ? port.out : port.in, port.transport, 1.0});
  }
  return made;
}

} // namespace

Forms multicast_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                      GroupFamily family) {
  const bool reduces = kind == CollectiveKind::reduce;
  if ((!reduces && kind != CollectiveKind::broadcast) || family.size < 3) return {};
  const Layout layout(graph, router, family);
  SwitchPorts ports(graph, router, layout);
  Traffic traffic(graph, router, layout);
  NodeTrees trees(traffic, layout);
  // By kind of node, places, and whether it is the root's.
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, BundleId> bundles;
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    const std::span<const Segment> group = layout.group(i);
    if (!layout.even(group) || layout.size(group.front()) < 2) return {};
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::vector<SwitchPort>& own = ports.of(group[k]);
      if (own.empty()) return {};
      const auto [found, fresh] =
          bundles.try_emplace({kind_of_node(graph, group[k].node), group[k].places, k == 0});
      if (fresh) found->second = traffic.bundle(flows(own, k == 0, reduces));
      traffic.move(group[k].node, group[k].node, found->second);
    }
    if (group.size() > 1) {
      trees.add(group, 1.0 / static_cast<double>(layout.size(group.front())),
                reduces ? TreeWay::up : TreeWay::down);
    }
  }
  const std::span<const Segment> first = layout.group(0);
  const Places& places = layout.places(first.front());
  const RankId root = router.rank(first.front().node, places[0]);
  traffic.serial.push_back({root, router.rank(first.front().node, places[1]), 1.0, 1.0});
  if (first.size() > 1) {
    const auto levels = static_cast<double>(std::bit_width(first.size() - 1));
    const RankId far = router.rank(first.back().node, layout.places(first.back()).front());
    traffic.serial.push_back({root, far, levels, levels});
  }
  return forms_of(graph, "multicast", traffic, {{"in-switch", "bulk", true}});
}

} // namespace clustersim
