#pragma once
// The tables of graph generators. A new shape is one function and one line in its table.

#include "network/link_graph.hpp"

#include <string_view>
#include <vector>

namespace clustersim {

/// What `units` parallel links of one kind carry, one direction.
[[nodiscard]] BytesPerSecond achieved(const Link& link, double units = 1.0);

/// Joins the chips of a node by their scale-up links; the PCIe tree is built beside it
/// (host_tree.cpp).
struct NodeShape {
  std::string_view name;
  void (*join)(LinkGraph&, const Node&, const std::string& prefix,
               const std::vector<VertexId>& chips);
};
[[nodiscard]] const std::vector<NodeShape>& node_shape_table();

/// Of a node whose shape is a torus; validated before.
[[nodiscard]] std::vector<TorusAxis> axes_of(const Node& node);

/// What plugs into a fabric: the nodes of one partition, or of several side by side.
struct FabricClients {
  int nodes = 0;
  int nics = 0;        // of a node, the most
  BytesPerSecond port; // of a card, the fastest, as the fabric's switches take it
};

/// Where the NICs of each node plug in. A unit is a block of nodes that hang at the same leaves.
struct FabricPorts {
  std::vector<VertexId> leaves; // unit-major; of an explicit fabric node-major, one for each NIC
  std::vector<NodeSite> sites;  // by unit, where all units are alike; the shape is set later
  int nodes_per_unit = 1;
  int leaves_per_unit = 1;
  VertexId top; // where another fabric joins this one
  [[nodiscard]] int unit(int node) const { return node / nodes_per_unit; }
  [[nodiscard]] VertexId leaf(int node, int nic) const {
    return leaves[static_cast<std::size_t>(unit(node) * leaves_per_unit + nic % leaves_per_unit)];
  }
};

/// Adds the switches of a fabric, their names behind `prefix`. No leaves: the nodes stay alone.
struct FabricShape {
  std::string_view name;
  FabricPorts (*build)(LinkGraph&, const Fabric&, const FabricClients&, const std::string& prefix);
};
[[nodiscard]] const std::vector<FabricShape>& fabric_shape_table();

/// PCIe switches, root complexes, host memories and NICs of one node. Returns the vertices to plug
/// into the fabric, `{sends, receives}` per NIC (the same vertex unless peer access is missing).
struct NicPort {
  VertexId sends, receives;
};
[[nodiscard]] std::vector<NicPort> build_host(LinkGraph&, const Node&, const std::string& prefix,
                                              const std::vector<VertexId>& chips);

} // namespace clustersim
