#pragma once
// Shortest paths inside a part of the link graph, by Boost.Graph.

#include "network/routing.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace clustersim {

/// (hops, latency) as one number: hops in the upper bits, picoseconds in the lower, so that equal
/// costs compare equal whatever the order of summation.
using PathCost = std::int64_t;
inline constexpr PathCost unreachable = std::numeric_limits<PathCost>::max();
[[nodiscard]] PathCost cost_of(const Edge& edge);
[[nodiscard]] int hops_in(PathCost cost);

/// Vertices and edges by consecutive numbers of its own.
class PathGraph {
public:
  /// The whole graph, or one node with its NICs but without the fabric.
  static PathGraph whole(const LinkGraph& graph);
  static PathGraph node(const LinkGraph& graph, const NodeBlock& block);
  /// A node's chips and scale-up switches: peers that have such a path never take PCIe.
  static PathGraph scale_up(const LinkGraph& graph, const NodeBlock& block);
  /// Switches outside the nodes.
  static PathGraph fabric(const LinkGraph& graph);

  /// Costs from a vertex to all others.
  [[nodiscard]] std::vector<PathCost> costs_from(VertexId source) const;
  /// The paths of least cost, shares split evenly at each branching. No edges when there is none.
  [[nodiscard]] Route route(VertexId source, VertexId target,
                            const std::vector<PathCost>& costs) const;
  [[nodiscard]] std::size_t index(VertexId vertex) const;

private:
  struct Arc {
    EdgeId edge;
    std::uint32_t from, to;
    PathCost cost;
    Seconds latency;
  };
  PathGraph(const LinkGraph& graph, std::vector<VertexId> vertices,
            const std::vector<EdgeId>& edges);
  static PathGraph within(const LinkGraph& graph, const NodeBlock& block,
                          bool (*wanted)(VertexKind));
  [[nodiscard]] bool passes(const Arc& arc, std::size_t source) const;

  std::vector<VertexId> vertices_;    // by number, ascending
  std::vector<char> forwards_;        // by number
  std::vector<std::uint32_t> number_; // by VertexId minus the first
  std::size_t first_vertex_ = 0;
  std::vector<Arc> arcs_;            // sorted by `from`, then edge
  std::vector<std::uint32_t> first_; // arcs_ of vertex v: first_[v] .. first_[v + 1]
};

} // namespace clustersim
