// Switches between the nodes. Spines that are symmetric are one vertex: traffic is spread evenly
// over them, so the sum of their ports is what a leaf sees, and the graph stays proportional to the
// chips.

#include "base/bug.hpp"
#include "network/generators.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

namespace {

FabricPorts build_nothing(LinkGraph&, const Partition& partition) {
  throw Bug(fmt::format("{} nodes of '{}' without a fabric between them", partition.nodes,
                        partition.node.id));
}

FabricPorts build_single_switch(LinkGraph& graph, const Partition& partition) {
  FabricPorts ports;
  Vertex leaf{VertexKind::leaf, "switch"};
  leaf.reduces = partition.fabric.in_network_reduction;
  ports.leaves.push_back(graph.add_vertex(std::move(leaf)));
  ports.nodes_per_unit = partition.nodes;
  return ports;
}

/// Leaves in units, all joined by one spine vertex. A leaf sends up what its NICs can send, divided
/// by the oversubscription.
FabricPorts build_leaf_spine(LinkGraph& graph, const Partition& partition, int leaves_per_unit) {
  const Fabric& fabric = partition.fabric;
  FabricPorts ports;
  ports.nodes_per_unit = std::clamp(fabric.nodes_per_leaf, 1, partition.nodes);
  ports.leaves_per_unit = leaves_per_unit;
  const int units = (partition.nodes - 1) / ports.nodes_per_unit + 1;
  for (int i = 0; i < units * leaves_per_unit; ++i) {
    Vertex leaf{VertexKind::leaf, fmt::format("leaf{}", i)};
    leaf.reduces = fabric.in_network_reduction;
    ports.leaves.push_back(graph.add_vertex(std::move(leaf)));
  }
  if (ports.leaves.size() == 1) return ports;
  const VertexId spine = graph.add_vertex({VertexKind::spine, "spine"});
  const LinkClassId link_class = graph.add_link_class(fabric.link);
  const double nics_per_leaf =
      static_cast<double>(fabric.nodes_per_leaf) * partition.node.nics.count / leaves_per_unit;
  const BytesPerSecond port = std::min(achieved(fabric.link), achieved(partition.node.nics.link));
  for (const VertexId leaf : ports.leaves) {
    graph.add_duplex(leaf, spine, port * (nics_per_leaf / fabric.oversubscription),
                     fabric.switch_latency, link_class);
  }
  return ports;
}

FabricPorts build_fat_tree(LinkGraph& graph, const Partition& partition) {
  return build_leaf_spine(graph, partition, 1);
}

/// NIC i of every node of a unit meets on the unit's leaf i.
FabricPorts build_rail_optimized(LinkGraph& graph, const Partition& partition) {
  return build_leaf_spine(graph, partition, std::max(1, partition.node.nics.count));
}

} // namespace

const std::vector<FabricShape>& fabric_shape_table() {
  static const std::vector<FabricShape> table{{"none", build_nothing},
                                              {"single-switch", build_single_switch},
                                              {"rail-optimized", build_rail_optimized},
                                              {"fat-tree", build_fat_tree}};
  return table;
}

} // namespace clustersim
