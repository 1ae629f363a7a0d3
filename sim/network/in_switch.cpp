// Reduction and multicast in the scale-up switch (NVLink SHARP).
//
// One node, n ranks: rank i asks the switch for the sum of its share of the buffer (S/n in, while
// every rank sends its S/n of that share: S out together) and multicasts the result (S/n out, S in
// together): 1 + 1/n bytes per payload byte each way, against 2(n−1)/n of a ring. Several nodes:
// the same inside each node (1 + 1/g), and a double tree across nodes with S/g per member in
// between.

#include "network/algorithms.hpp"
#include "network/traffic.hpp"

#include <bit>

namespace clustersim {

namespace {

/// The edges between a chip and a switch that reduces; false when there is none.
struct Port {
  bool found = false;
  EdgeId out, in;
};

Port reducing_port(const LinkGraph& graph, RankId rank) {
  const VertexId chip = graph.chips()[rank.at()];
  for (const EdgeId out : graph.out_edges(chip)) {
    const VertexId middle = graph.edges()[out.at()].to;
    const Vertex& vertex = graph.vertices()[middle.at()];
    if (vertex.kind != VertexKind::scale_up_switch || !vertex.reduces) continue;
    for (const EdgeId in : graph.out_edges(middle)) {
      if (graph.edges()[in.at()].to == chip) return {true, out, in};
    }
  }
  return {};
}

/// NCCL 2.2x uses it above four ranks in a node; below, the ring moves fewer bytes or nearly so.
constexpr std::size_t fewest_members = 5;

} // namespace

Forms in_switch_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                      GroupFamily family) {
  if (kind != CollectiveKind::all_reduce || family.size < static_cast<int>(fewest_members))
    return {};
  const GroupRange groups(graph, family);
  const std::vector<RankId> first = groups.members(0);
  if (!reducing_port(graph, first.front()).found) return {};
  Traffic traffic(graph);
  traffic.local = 1.0 / family.size;
  traffic.most_in_node = most_in_node(graph, groups);
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::vector<RankId> members = groups.members(i);
    const std::vector<NodeSegment> segments = node_segments(graph, members);
    const std::size_t g = segments.front().size();
    if (g < fewest_members || !even(segments)) return {};
    for (const RankId rank : members) {
      const Port port = reducing_port(graph, rank);
      if (!port.found) return {};
      const LinkClassId transport = graph.edges()[port.out.at()].link_class;
      traffic.load.add(transport, port.out, 1.0 + 1.0 / static_cast<double>(g));
      traffic.load.add(transport, port.in, 1.0 + 1.0 / static_cast<double>(g));
    }
    for (std::size_t local = 0; segments.size() > 1 && local < g; ++local) {
      add_double_tree(traffic, router, members, segments, local, 1.0 / static_cast<double>(g));
    }
  }
  const std::vector<NodeSegment> segments = node_segments(graph, first);
  traffic.serial.push_back({first[0], first[1], 2.0, 2.0});
  if (segments.size() > 1) {
    const double levels = static_cast<double>(std::bit_width(segments.size() - 1));
    traffic.serial.push_back({first.front(), first[segments.back().begin], 2 * levels, 2 * levels});
  }
  return forms_of(graph, router, "in-switch", traffic, {{"in-switch", "bulk", true}});
}

} // namespace clustersim
