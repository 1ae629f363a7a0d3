#pragma once
// The cluster as a directed graph: chips, host memories, PCIe and scale-up switches, NICs, leaves, spines.
// Plain arrays; Boost.Graph stays inside the .cpp files of this folder.

#include "base/index.hpp"
#include "base/quantity.hpp"
#include "spec/cluster.hpp"

#include <string>
#include <vector>

namespace clustersim {

using VertexId = Index<struct VertexTag>;
using EdgeId = Index<struct EdgeTag>;
using LinkClassId = Index<struct LinkClassTag>; // index into LinkGraph::link_classes()
using RankId = Index<struct RankTag>;           // chip number, node-major: rank = node · chips + local

enum class VertexKind { chip, host_memory, root_complex, pcie_switch, scale_up_switch, nic, leaf, spine };

struct Vertex {
  VertexKind kind = VertexKind::chip;
  std::string name;      // "node3/gpu5", "leaf2"
  int node = -1;         // -1 outside nodes
  bool reduces = false;  // can reduce and multicast in the switch
};

struct Edge {
  VertexId from, to;
  BytesPerSecond capacity; // achieved, one direction
  Seconds latency;
  LinkClassId link_class;
};

class LinkGraph {
public:
  VertexId add_vertex(Vertex vertex);
  EdgeId add_edge(VertexId from, VertexId to, BytesPerSecond capacity, Seconds latency, LinkClassId link_class);
  /// Both directions, each with the full capacity.
  void add_duplex(VertexId a, VertexId b, BytesPerSecond capacity, Seconds latency, LinkClassId link_class);
  LinkClassId add_link_class(const Link& link); // the same id for the same link

  [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<Link>& link_classes() const { return link_classes_; }
  [[nodiscard]] const std::vector<EdgeId>& out_edges(VertexId vertex) const { return out_[vertex.at()]; }
  [[nodiscard]] const std::vector<VertexId>& chips() const { return chips_; } // by RankId
  [[nodiscard]] int chips_per_node() const { return chips_per_node_; }
  void set_chips_per_node(int chips) { chips_per_node_ = chips; }
  [[nodiscard]] std::string edge_name(EdgeId edge) const; // "node0/gpu0 -> node0/nvswitch"

private:
  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;
  std::vector<std::vector<EdgeId>> out_;
  std::vector<VertexId> chips_;
  std::vector<Link> link_classes_;
  int chips_per_node_ = 1;
};

/// Node shape × fabric shape, by the generator tables in generators.cpp.
[[nodiscard]] LinkGraph build_link_graph(const Cluster& cluster);

/// Names that `shape` may take, for validation and `list`.
[[nodiscard]] std::vector<std::string> node_shapes();
[[nodiscard]] std::vector<std::string> fabric_shapes();

} // namespace clustersim
