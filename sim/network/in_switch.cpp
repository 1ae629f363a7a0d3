// Reduction and multicast in the scale-up switch (NVLink SHARP).
//
// One node, n ranks: rank i asks the switch for the sum of its share of the buffer (S/n in, while
// every rank sends its S/n of that share: S out together) and multicasts the result (S/n out, S in
// together): 1 + 1/n bytes per payload byte each way, against 2(n−1)/n of a ring. Several nodes:
// the same inside each node (1 + 1/g), and a double tree across nodes with S/g per member in
// between.

#include "network/algorithms.hpp"
#include "network/node_trees.hpp"
#include "network/switch_ports.hpp"

#include <bit>
#include <map>
#include <utility>

namespace clustersim {

namespace {

/// NCCL 2.2x uses it above four ranks in a node; below, the ring moves fewer bytes or nearly so.
constexpr std::size_t fewest_members = 5;

} // namespace

Forms in_switch_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                      GroupFamily family) {
  if (kind != CollectiveKind::all_reduce || family.size < static_cast<int>(fewest_members))
    return {};
  const Layout layout(graph, router, family);
  SwitchPorts ports(graph, router, layout);
  if (ports.of(layout.group(0).front()).empty()) return {};
  Traffic traffic(graph, router, layout);
  traffic.local = 1.0 / family.size;
  NodeTrees trees(traffic, layout);
  std::map<std::pair<std::uint32_t, std::uint32_t>, BundleId> bundles; // by kind of node, places
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    const std::span<const Segment> group = layout.group(i);
    const std::size_t g = layout.size(group.front());
    if (g < fewest_members || !layout.even(group)) return {};
    for (const Segment& segment : group) {
      const std::vector<SwitchPort>& own = ports.of(segment);
      if (own.empty()) return {};
      const auto [found, fresh] =
          bundles.try_emplace({kind_of_node(graph, segment.node), segment.places});
      if (fresh) {
        std::vector<EdgeFlow> flows;
        for (const SwitchPort& port : own) {
          for (const std::uint32_t edge : {port.out, port.in})
            flows.push_back({edge, port.transport, 1.0 + 1.0 / static_cast<double>(g)});
        }
        found->second = traffic.bundle(std::move(flows));
      }
      traffic.move(segment.node, segment.node, found->second);
    }
    if (group.size() > 1) trees.add(group, 1.0 / static_cast<double>(g), TreeWay::both);
  }
  const std::span<const Segment> first = layout.group(0);
  const Places& places = layout.places(first.front());
  const RankId root = router.rank(first.front().node, places[0]);
  traffic.serial.push_back({root, router.rank(first.front().node, places[1]), 2.0, 2.0});
  if (first.size() > 1) {
    const double levels = 2.0 * static_cast<double>(std::bit_width(first.size() - 1));
    const RankId far = router.rank(first.back().node, layout.places(first.back()).front());
    traffic.serial.push_back({root, far, levels, levels});
  }
  return forms_of(graph, "in-switch", traffic, {{"in-switch", "bulk", true}});
}

} // namespace clustersim
