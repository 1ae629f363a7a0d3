#pragma once
// The cluster as a directed graph: chips, host memories, PCIe and scale-up switches, NICs, leaves,
// spines. Plain arrays; Boost.Graph stays inside the .cpp files of this folder
// (docs/explanation/link-graph.md).

#include "base/index.hpp"
#include "base/quantity.hpp"
#include "spec/cluster.hpp"
#include "spec/scale_up_graph.hpp"

#include <string>
#include <vector>

namespace clustersim {

using VertexId = Index<struct VertexTag>;
using EdgeId = Index<struct EdgeTag>;
using LinkClassId = Index<struct LinkClassTag>; // index into LinkGraph::link_classes()
using RankId = Index<struct RankTag>; // chip number, node-major: rank = node · chips + local
using NodeShapeId = Index<struct NodeShapeTag>; // nodes of one shape have the same inside
using NodeGroupId = Index<struct NodeGroupTag>; // nodes of one group hang at the same switches, too

enum class VertexKind {
  chip,
  host_memory,
  root_complex,
  pcie_switch,
  scale_up_switch,
  nic,
  leaf,
  spine
};

struct Vertex {
  VertexKind kind = VertexKind::chip;
  std::string name;     // "node3/gpu5", "leaf2"
  int node = -1;        // -1 outside nodes
  bool reduces = false; // can reduce and multicast in the switch
  bool forwards = true; // may stand inside a route; a GPU does not, a chip with a router does
};

struct Edge {
  VertexId from, to;
  BytesPerSecond capacity; // achieved, one direction
  Seconds latency;
  LinkClassId link_class;
};

/// The contiguous part of the graph that one node brings: its vertices, its inner edges and its
/// ports on the fabric, in the same order for all nodes of a group. A route found in one node
/// therefore holds in its sisters, shifted.
struct NodeBlock {
  VertexId first_vertex;
  EdgeId first_edge;
  RankId first_chip;
  int vertices = 0, edges = 0, chips = 0;
  NodeShapeId shape;
  NodeGroupId group;
};

class LinkGraph {
public:
  VertexId add_vertex(Vertex vertex);
  EdgeId add_edge(VertexId from, VertexId to, BytesPerSecond capacity, Seconds latency,
                  LinkClassId link_class);
  /// Both directions, each with the full capacity.
  void add_duplex(VertexId a, VertexId b, BytesPerSecond capacity, Seconds latency,
                  LinkClassId link_class);
  LinkClassId add_link_class(const Link& link); // the same id for the same link
  /// Everything added between the two calls belongs to the node.
  void begin_node(NodeShapeId shape, NodeGroupId group);
  void end_node();

  [[nodiscard]] const std::vector<Vertex>& vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] const std::vector<Link>& link_classes() const { return link_classes_; }
  [[nodiscard]] const std::vector<EdgeId>& out_edges(VertexId vertex) const {
    return out_[vertex.at()];
  }
  [[nodiscard]] const std::vector<EdgeId>& in_edges(VertexId vertex) const {
    return in_[vertex.at()];
  }
  [[nodiscard]] const std::vector<VertexId>& chips() const { return chips_; } // by RankId
  [[nodiscard]] const std::vector<NodeBlock>& nodes() const { return nodes_; }
  [[nodiscard]] int node_of(RankId rank) const { return vertices_[chips_[rank.at()].at()].node; }
  [[nodiscard]] int chips_per_node() const { return chips_per_node_; }
  void set_chips_per_node(int chips) { chips_per_node_ = chips; }
  /// Axes of the nodes of a shape that are tori; empty for all others.
  [[nodiscard]] const std::vector<TorusAxis>& torus(NodeShapeId shape) const;
  void set_torus(NodeShapeId shape, std::vector<TorusAxis> axes);
  [[nodiscard]] std::string edge_name(EdgeId edge) const; // "node0/gpu0 -> node0/nvswitch"

private:
  std::vector<Vertex> vertices_;
  std::vector<Edge> edges_;
  std::vector<std::vector<EdgeId>> out_, in_;
  std::vector<VertexId> chips_;
  std::vector<NodeBlock> nodes_;
  std::vector<Link> link_classes_;
  std::vector<std::vector<TorusAxis>> tori_; // by shape
  int chips_per_node_ = 1;
};

/// Node shape × fabric shape, by the generator tables in node_shapes.cpp and fabric_shapes.cpp.
[[nodiscard]] LinkGraph build_link_graph(const Cluster& cluster);

/// Names that `shape` may take, for validation and `list`.
[[nodiscard]] std::vector<std::string> node_shapes();
[[nodiscard]] std::vector<std::string> fabric_shapes();

} // namespace clustersim
