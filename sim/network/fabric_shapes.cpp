// Switches between the nodes. Spines that are symmetric are one vertex: traffic is spread evenly
// over them, so the sum of their ports is what a leaf sees, and the graph stays proportional to the
// chips.

#include "base/bug.hpp"
#include "network/generators.hpp"

#include "spec/scale_up_graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace clustersim {

namespace {

FabricPorts build_nothing(LinkGraph&, const Fabric&, const FabricClients& clients,
                          const std::string&) {
  throw Bug(fmt::format("{} nodes without a fabric between them", clients.nodes));
}

FabricPorts build_single_switch(LinkGraph& graph, const Fabric& fabric,
                                const FabricClients& clients, const std::string& prefix) {
  FabricPorts ports;
  Vertex leaf{VertexKind::leaf, prefix + "switch"};
  leaf.reduces = fabric.in_network_reduction;
  ports.leaves.push_back(graph.add_vertex(std::move(leaf)));
  ports.nodes_per_unit = clients.nodes;
  ports.top = ports.leaves.front();
  return ports;
}

/// The tiers above the leaves. A leaf sends up what its NICs can send, divided by the
/// oversubscription. With groups (pods of a Clos, or a dragonfly's groups, whose all-to-all links
/// adaptive routing uses alike) each has a vertex of its own, and sends up what its leaves can,
/// divided by the group's. Edges of a group, and of a unit's leaves, follow one another.
void join_leaves(LinkGraph& graph, const Fabric& fabric, const FabricClients& clients,
                 FabricPorts& ports, const std::string& prefix) {
  const double nics_per_leaf =
      static_cast<double>(fabric.nodes_per_leaf) * clients.nics / ports.leaves_per_unit;
  const LinkClassId link_class = graph.add_link_class(fabric.link);
  const BytesPerSecond up = clients.port * (nics_per_leaf / fabric.oversubscription);
  const auto per_group = static_cast<std::size_t>(std::max(0, fabric.leaves_per_group));
  const bool grouped = per_group > 0 && per_group < ports.leaves.size();
  const VertexId top = graph.add_vertex({VertexKind::spine, prefix + "spine"});
  ports.top = top;
  std::vector<VertexId> groups{top};
  const std::size_t first_group_edge = graph.edges().size();
  if (grouped) {
    groups.clear();
    for (std::size_t g = 0; g * per_group < ports.leaves.size(); ++g) {
      groups.push_back(graph.add_vertex({VertexKind::spine, fmt::format("{}group{}", prefix, g)}));
      graph.add_duplex(groups.back(), top,
                       up * (static_cast<double>(per_group) / fabric.group_oversubscription),
                       fabric.switch_latency, link_class);
    }
  }
  const std::size_t first_leaf_edge = graph.edges().size();
  for (std::size_t i = 0; i < ports.leaves.size(); ++i) {
    graph.add_duplex(ports.leaves[i], groups[grouped ? i / per_group : 0], up,
                     fabric.switch_latency, link_class);
  }
  // A unit whose leaves are in several groups is like no other.
  const auto per_unit = static_cast<std::size_t>(ports.leaves_per_unit);
  if (grouped && per_group % per_unit != 0) return;
  for (std::size_t first = 0; first < ports.leaves.size(); first += per_unit) {
    NodeSite site;
    site.first_edge = EdgeId{first_leaf_edge + 2 * first};
    site.edges = 2 * ports.leaves_per_unit;
    site.pod = static_cast<std::uint32_t>(grouped ? first / per_group : 0);
    site.pod_edge = EdgeId{first_group_edge + 2 * std::size_t{site.pod}};
    site.pod_edges = grouped ? 2 : 0;
    ports.sites.push_back(site);
  }
}

/// Leaves in units of nodes that hang at the same ones.
FabricPorts build_leaf_spine(LinkGraph& graph, const Fabric& fabric, const FabricClients& clients,
                             const std::string& prefix, int leaves_per_unit) {
  FabricPorts ports;
  ports.nodes_per_unit = std::clamp(fabric.nodes_per_leaf, 1, clients.nodes);
  ports.leaves_per_unit = leaves_per_unit;
  const int units = (clients.nodes - 1) / ports.nodes_per_unit + 1;
  for (int i = 0; i < units * leaves_per_unit; ++i) {
    Vertex leaf{VertexKind::leaf, fmt::format("{}leaf{}", prefix, i)};
    leaf.reduces = fabric.in_network_reduction;
    ports.leaves.push_back(graph.add_vertex(std::move(leaf)));
  }
  ports.top = ports.leaves.front();
  if (ports.leaves.size() > 1) join_leaves(graph, fabric, clients, ports, prefix);
  return ports;
}

FabricPorts build_fat_tree(LinkGraph& graph, const Fabric& fabric, const FabricClients& clients,
                           const std::string& prefix) {
  return build_leaf_spine(graph, fabric, clients, prefix, 1);
}

/// NIC i of every node of a unit meets on the unit's leaf i.
FabricPorts build_rail_optimized(LinkGraph& graph, const Fabric& fabric,
                                 const FabricClients& clients, const std::string& prefix) {
  return build_leaf_spine(graph, fabric, clients, prefix, std::max(1, clients.nics));
}

/// As the file lists them: switches by name, each card at the switch that it is plugged into.
/// Another fabric joins the first switch of the list.
FabricPorts build_listed(LinkGraph& graph, const Fabric& fabric, const FabricClients& clients,
                         const std::string& prefix) {
  const auto nics = static_cast<std::size_t>(clients.nics);
  FabricPorts ports;
  ports.leaves_per_unit = clients.nics;
  ports.leaves.resize(static_cast<std::size_t>(clients.nodes) * nics);
  const LinkClassId link_class = graph.add_link_class(fabric.link);
  std::map<std::string, VertexId> switches;
  const auto named = [&](const std::string& name) {
    const auto known = switches.find(name);
    if (known != switches.end()) return known->second;
    Vertex leaf{VertexKind::leaf, prefix + name};
    leaf.reduces = fabric.in_network_reduction;
    const VertexId added = graph.add_vertex(std::move(leaf));
    if (switches.empty()) ports.top = added;
    return switches.emplace(name, added).first->second;
  };
  for (const std::string& text : fabric.edges) {
    std::string why;
    const auto edge = listed_edge(text, why);
    if (!edge) throw Bug(why);
    const auto from = listed_port(edge->from), to = listed_port(edge->to);
    if (!from && !to) {
      graph.add_duplex(named(edge->from), named(edge->to), achieved(fabric.link, edge->links),
                       fabric.switch_latency, link_class);
      continue;
    }
    const ListedPort port = from ? *from : *to;
    if (port.node >= clients.nodes) continue; // a place that is not filled
    const VertexId leaf = named(from ? edge->to : edge->from);
    for (std::size_t nic = 0; nic < nics; ++nic) {
      if (port.nic && static_cast<std::size_t>(*port.nic) != nic) continue;
      ports.leaves[static_cast<std::size_t>(port.node) * nics + nic] = leaf;
    }
  }
  return ports;
}

} // namespace

const std::vector<FabricShape>& fabric_shape_table() {
  static const std::vector<FabricShape> table{{"none", build_nothing},
                                              {"single-switch", build_single_switch},
                                              {"rail-optimized", build_rail_optimized},
                                              {"fat-tree", build_fat_tree},
                                              {"dragonfly", build_fat_tree},
                                              {"explicit", build_listed}};
  return table;
}

} // namespace clustersim
