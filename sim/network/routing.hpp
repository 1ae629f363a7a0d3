#pragma once
// Shortest paths by (hops, latency), traffic split evenly over equal-cost next hops (ECMP). Traffic
// between two vertices of a node never leaves it; traffic between nodes leaves by a NIC, crosses
// the fabric, and enters by a NIC (docs/explanation/link-graph.md).

#include "network/link_graph.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clustersim {

struct EdgeShare {
  EdgeId edge;
  double share = 1.0; // of the traffic of the pair
};

struct Route {
  std::vector<EdgeShare> edges; // empty for a vertex to itself
  Seconds latency;              // along one path
  int hops = 0;
};

/// A route between two chips with the edges inside their nodes counted from the node's first edge,
/// so that it holds for all pairs of nodes of the same two groups.
struct RoutePattern {
  enum class Base { source, target, fabric };
  struct Hop {
    Base base = Base::source;
    std::uint32_t offset = 0; // from the node's first edge; an EdgeId in the fabric
    double share = 1.0;
  };
  std::vector<Hop> hops_taken; // in the order of travel
  Seconds latency;
  int hops = 0;
  /// The link class whose driver moves the data end to end: the NIC's when the route leaves the
  /// node, host memory's when it is staged there, else PCIe's, else the scale-up link's.
  LinkClassId transport;
  bool through_root = false; // peer to peer across a PCIe root complex
};

/// A way between a chip and a port of its node on the fabric; edges counted from the node's first.
struct Gate {
  Route inside;           // the port included
  std::uint32_t port = 0; // edge between NIC and leaf
};

class PathGraph;  // shortest_path.hpp
class GateFinder; // gates.hpp

class Router {
public:
  explicit Router(const LinkGraph& graph) : graph_(&graph) {}
  /// Forms of collectives then carry what they put on every edge, for pictures.
  void keep_loads() { keeps_loads_ = true; }
  [[nodiscard]] bool keeps_loads() const { return keeps_loads_; }
  /// Throws Bug when there is no path: the generators and the input layer guarantee one.
  [[nodiscard]] const Route& route(VertexId from, VertexId to);
  /// The same for two chips of a graph with node blocks, shared by all pairs that look alike.
  [[nodiscard]] const RoutePattern& pattern(RankId from, RankId to);

  /// Calls visit(edge, share) for each edge between two chips.
  template <class Visit>
  void for_each_edge(RankId from, RankId to, Visit&& visit) {
    if (from != to) for_each_edge(pattern(from, to), from, to, visit);
  }
  template <class Visit>
  void for_each_edge(const RoutePattern& pattern, RankId from, RankId to, Visit&& visit) const {
    const std::size_t source = first_edge(from), target = first_edge(to);
    for (const RoutePattern::Hop& hop : pattern.hops_taken) {
      const std::size_t first = hop.base == RoutePattern::Base::source   ? source
                                : hop.base == RoutePattern::Base::target ? target
                                                                         : 0;
      visit(EdgeId{first + hop.offset}, hop.share);
    }
  }

private:
  [[nodiscard]] std::size_t first_edge(RankId rank) const {
    const int node = graph_->node_of(rank);
    return node < 0 ? 0 : graph_->nodes()[static_cast<std::size_t>(node)].first_edge.at();
  }
  [[nodiscard]] Route search(VertexId from, VertexId to) const;
  [[nodiscard]] RoutePattern loose(RankId from, RankId to) const;
  [[nodiscard]] RoutePattern inside(const NodeBlock& node, RankId from, RankId to) const;
  [[nodiscard]] RoutePattern between(RankId from, RankId to);
  /// Transport, and whether a root complex is crossed.
  void set_driver(RoutePattern& pattern, RankId from, RankId to) const;
  [[nodiscard]] EdgeId edge_at(const RoutePattern::Hop& hop, RankId from, RankId to) const {
    const std::size_t first = hop.base == RoutePattern::Base::source   ? first_edge(from)
                              : hop.base == RoutePattern::Base::target ? first_edge(to)
                                                                       : 0;
    return EdgeId{first + hop.offset};
  }
  const std::vector<Gate>& gates(const NodeBlock& node, std::size_t chip, bool leaving);
  const Route& fabric_route(VertexId from, VertexId to);

  const LinkGraph* graph_;
  bool keeps_loads_ = false;
  std::map<std::pair<VertexId, VertexId>, Route> routes_;
  std::unordered_map<std::uint64_t, RoutePattern> patterns_;
  std::map<std::pair<RankId, RankId>, RoutePattern> loose_; // of chips that belong to no node
  std::unordered_map<std::uint64_t, std::vector<Gate>> gates_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const GateFinder>> finders_; // by shape, side
  std::unordered_map<std::uint64_t, Route> fabric_routes_;
  std::shared_ptr<const PathGraph> fabric_; // built when first needed
};

} // namespace clustersim
