// How a node's chips are joined by their scale-up links.

#include "network/generators.hpp"

#include <algorithm>

namespace clustersim {

namespace {

void join_by_pcie_alone(LinkGraph&, const Node&, const std::string&, const std::vector<VertexId>&) {
}

/// All switch chips as one vertex: each chip spreads its links evenly over them, and a crossbar
/// does not block, so only the ports of the chips can bind.
void join_by_switch(LinkGraph& graph, const Node& node, const std::string& prefix,
                    const std::vector<VertexId>& chips) {
  Vertex vertex{VertexKind::scale_up_switch, prefix + "switch"};
  vertex.reduces = node.scale_up.in_network_reduction;
  const VertexId middle = graph.add_vertex(std::move(vertex));
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  for (const VertexId chip : chips) {
    graph.add_duplex(chip, middle, achieved(link, node.scale_up.links_per_chip), link.latency,
                     link_class);
  }
}

/// Every pair directly; a chip's links are divided evenly among its peers.
void join_all_pairs(LinkGraph& graph, const Node& node, const std::string&,
                    const std::vector<VertexId>& chips) {
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  const double peers = static_cast<double>(std::max<std::size_t>(chips.size(), 2) - 1);
  for (std::size_t a = 0; a < chips.size(); ++a) {
    for (std::size_t b = a + 1; b < chips.size(); ++b) {
      graph.add_duplex(chips[a], chips[b], achieved(link, node.scale_up.links_per_chip / peers),
                       link.latency, link_class);
    }
  }
}

/// Neighbours 0-1, 2-3, … by a bridge; the rest by PCIe. An odd chip has no bridge.
void join_pairs(LinkGraph& graph, const Node& node, const std::string&,
                const std::vector<VertexId>& chips) {
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  for (std::size_t a = 0; a + 1 < chips.size(); a += 2) {
    graph.add_duplex(chips[a], chips[a + 1], achieved(link, node.scale_up.links_per_chip),
                     link.latency, link_class);
  }
}

} // namespace

BytesPerSecond achieved(const Link& link, double units) {
  return link.bandwidth * (link.achieved_fraction * units);
}

const std::vector<NodeShape>& node_shape_table() {
  static const std::vector<NodeShape> table{{"none", join_by_pcie_alone},
                                            {"switched", join_by_switch},
                                            {"mesh", join_all_pairs},
                                            {"bridged", join_pairs}};
  return table;
}

} // namespace clustersim
