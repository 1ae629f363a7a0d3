#pragma once
// The cluster as a directed graph: chips, host memories, PCIe and scale-up switches, NICs, leaves,
// spines. Plain arrays; Boost.Graph stays inside the .cpp files of this folder
// (docs/explanation/link-graph.md).
//
// Nodes that hang at the same leaves differ in nothing but their numbers: one of them is stored,
// the others are read from it with ids shifted, so that a graph of 100,000 chips takes the memory
// of its distinct nodes.

#include "base/index.hpp"
#include "base/quantity.hpp"
#include "spec/cluster.hpp"
#include "spec/scale_up_graph.hpp"

#include <cstdint>
#include <iterator>
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

/// Where the nodes of a group plug in. Groups of one shape have the same switches with the same
/// edges, shifted by the first of them; a shape that occurs once says nothing about other groups.
struct NodeSite {
  std::uint32_t shape = 0;
  std::uint32_t pod = 0;       // groups of one pod meet below the topmost tier
  EdgeId first_edge, pod_edge; // of the group's leaves; of its pod
  int edges = 0, pod_edges = 0;
};

class LinkGraph;
[[nodiscard]] Vertex vertex_of(const LinkGraph& graph, std::size_t id);
[[nodiscard]] Edge edge_of(const LinkGraph& graph, std::size_t id);

/// A row of items made on demand, by number. Iterators give values, not references.
template <class Item, Item (*Get)(const LinkGraph&, std::size_t)>
class ItemView {
public:
  class Iterator {
  public:
    // NOLINTBEGIN(readability-identifier-naming): the standard library's names
    using iterator_category = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using pointer = const Item*;
    using reference = Item;
    // NOLINTEND(readability-identifier-naming)
    Iterator(const LinkGraph* graph, std::size_t at) : graph_(graph), at_(at) {}
    Item operator*() const { return Get(*graph_, at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

  private:
    const LinkGraph* graph_;
    std::size_t at_;
  };
  ItemView(const LinkGraph& graph, std::size_t size) : graph_(&graph), size_(size) {}
  Item operator[](std::size_t at) const { return Get(*graph_, at); }
  [[nodiscard]] Item front() const { return (*this)[0]; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Iterator begin() const { return {graph_, 0}; }
  [[nodiscard]] Iterator end() const { return {graph_, size_}; }

private:
  const LinkGraph* graph_;
  std::size_t size_;
};

/// Ids in stretches: blocks of `size` each, `count` of them, of which the first is stored.
class RepeatedIds {
public:
  struct Place {
    std::size_t stored = 0; // of the first block
    std::size_t block = 0;  // how many blocks after it
    std::size_t shift = 0;  // what to add to an id of the first block
  };
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Place place(std::size_t id) const;
  /// Ids of all blocks that repeat this one.
  void each_repetition(std::size_t id, std::vector<std::size_t>& out) const;
  void add();
  void begin_block();
  void end_block();
  void repeat(std::size_t count);

private:
  struct Run {
    std::size_t first = 0, stored = 0, size = 0, count = 1;
    bool open = true; // takes further items
  };
  [[nodiscard]] const Run& run_of(std::size_t id) const;
  std::vector<Run> runs_;
  std::size_t size_ = 0, stored_ = 0;
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
  /// So many more nodes like the last one, in its group.
  void repeat_node(int count);

  [[nodiscard]] Vertex vertex(VertexId id) const;
  [[nodiscard]] Edge edge(EdgeId id) const;
  [[nodiscard]] VertexKind kind(VertexId id) const {
    return vertices_[vertex_ids_.place(id.at()).stored].kind;
  }
  using Vertices = ItemView<Vertex, vertex_of>;
  using Edges = ItemView<Edge, edge_of>;
  [[nodiscard]] Vertices vertices() const { return {*this, vertex_ids_.size()}; }
  [[nodiscard]] Edges edges() const { return {*this, edge_ids_.size()}; }
  [[nodiscard]] const std::vector<Link>& link_classes() const { return link_classes_; }
  [[nodiscard]] std::vector<EdgeId> out_edges(VertexId vertex) const { return at(out_, vertex); }
  [[nodiscard]] std::vector<EdgeId> in_edges(VertexId vertex) const { return at(in_, vertex); }
  [[nodiscard]] const std::vector<VertexId>& chips() const { return chips_; } // by RankId
  /// What lies outside the nodes: switches, and the edges between them.
  [[nodiscard]] const std::vector<VertexId>& switches() const { return switches_; }
  [[nodiscard]] const std::vector<EdgeId>& trunks() const { return trunks_; }
  [[nodiscard]] const std::vector<NodeBlock>& nodes() const { return nodes_; }
  [[nodiscard]] int node_of(RankId rank) const { return node_of_[rank.at()]; } // -1 = in none
  [[nodiscard]] NodeSite site(NodeGroupId group) const;
  void set_site(NodeGroupId group, const NodeSite& site);
  [[nodiscard]] int chips_per_node() const { return chips_per_node_; }
  void set_chips_per_node(int chips) { chips_per_node_ = chips; }
  /// Axes of the nodes of a shape that are tori; empty for all others.
  [[nodiscard]] const std::vector<TorusAxis>& torus(NodeShapeId shape) const;
  void set_torus(NodeShapeId shape, std::vector<TorusAxis> axes);
  [[nodiscard]] std::string edge_name(EdgeId edge) const; // "node0/gpu0 -> node0/nvswitch"

private:
  [[nodiscard]] std::vector<EdgeId> at(const std::vector<std::vector<EdgeId>>& stored,
                                       VertexId vertex) const;
  [[nodiscard]] std::vector<EdgeId>& stored_at(std::vector<std::vector<EdgeId>>& stored,
                                               VertexId vertex) {
    return stored[vertex_ids_.place(vertex.at()).stored];
  }

  RepeatedIds vertex_ids_, edge_ids_;
  std::vector<Vertex> vertices_; // of distinct nodes, as all below
  std::vector<Edge> edges_;
  std::vector<std::vector<EdgeId>> out_, in_;
  std::vector<VertexId> chips_, switches_;
  std::vector<EdgeId> trunks_;
  std::vector<std::int32_t> node_of_; // by RankId
  std::vector<NodeBlock> nodes_;
  std::vector<NodeSite> sites_; // by group
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
