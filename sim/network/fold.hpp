#pragma once
// The graph with vertices that nothing tells apart drawn as one: what pictures show of a large
// cluster, and on what cuts of it are computed.
//
// Colour refinement: two vertices stay together while their colours, and the colours, capacities
// and classes of all their edges, agree. The classes are an equitable partition, so that a linear
// program that is the same for all of a class (a maximum flow, a minimum cut) has the same optimum
// on the folded graph (M. Grohe et al., "Dimension reduction via colour refinement", 2014).

#include "network/link_graph.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clustersim {

struct FoldedVertex {
  VertexKind kind = VertexKind::chip;
  std::vector<VertexId> sisters; // in ascending order
  int nodes = -1;                // index into FoldedGraph::nodes; -1 outside nodes
};

/// All edges of one class and capacity from one folded vertex to another.
struct FoldedEdge {
  std::size_t from = 0, to = 0;
  LinkClassId link_class;
  BytesPerSecond capacity; // of one of them
  Seconds latency;
  std::int64_t count = 0;
  EdgeId first;
};

/// Nodes that look alike.
struct FoldedNodes {
  std::vector<std::size_t> members; // node numbers
  NodeShapeId shape;
};

struct FoldedGraph {
  std::vector<FoldedVertex> vertices;
  std::vector<FoldedEdge> edges;
  std::vector<FoldedNodes> nodes;
  std::vector<std::uint32_t> vertex_of; // by VertexId
  std::vector<std::uint32_t> edge_of;   // by EdgeId
};

using Colours = std::vector<std::uint32_t>; // by VertexId

/// Refines to the coarsest equitable partition that keeps apart what `colours` keeps apart.
[[nodiscard]] FoldedGraph fold(const LinkGraph& graph, Colours colours);

/// For a picture: each chip of a small node by itself, of a large one by kind; sister nodes as one.
/// The two halves of a stage without peer access are one vertex.
[[nodiscard]] FoldedGraph fold_for_picture(const LinkGraph& graph);

/// The largest node whose chips are shown one by one, and the most sorts of nodes that are told
/// apart.
inline constexpr int most_single_chips = 16;
inline constexpr std::size_t most_node_sorts = 6;

[[nodiscard]] std::string_view name_of(VertexKind kind);

} // namespace clustersim
