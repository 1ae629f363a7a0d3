#pragma once
// Shortest paths by (hops, latency), traffic split evenly over equal-cost next hops (ECMP). Traffic
// between two vertices of a node never leaves it; traffic between nodes leaves by a NIC, crosses
// the fabric, and enters by a NIC (docs/explanation/link-graph.md).

#include "network/link_graph.hpp"

#include <array>
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

/// A route between two chips with edges counted from the first of their nodes, units and pods, so
/// that it holds for all pairs of nodes that stand in the same relation.
struct RoutePattern {
  enum class Base { source, target, source_unit, target_unit, source_pod, target_pod, fabric };
  static constexpr std::size_t bases = 7;
  struct Hop {
    Base base = Base::source;
    std::uint32_t offset = 0; // from the base's first edge; an EdgeId in the fabric
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

/// Nodes by number; chips that belong to no node are those of one more, the last.
using NodeNumber = std::uint32_t;
using RelationId = Index<struct RelationTag>;

/// Pairs of nodes that no route tells apart (one node; two at the same leaves; in one pod; apart),
/// for every shape of node, and one such pair.
struct Relation {
  NodeNumber from = 0, to = 0;
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
  /// The same for two chips, shared by all pairs that look alike.
  [[nodiscard]] const RoutePattern& pattern(RankId from, RankId to);

  [[nodiscard]] NodeNumber node(RankId rank) const;
  [[nodiscard]] NodeNumber nodes() const; // one more than the graph has where chips are loose
  [[nodiscard]] std::size_t first_chip(NodeNumber node) const;
  [[nodiscard]] RankId rank(NodeNumber node, std::size_t place) const {
    return RankId{first_chip(node) + place};
  }
  [[nodiscard]] RelationId relation(NodeNumber from, NodeNumber to);
  [[nodiscard]] Relation example(RelationId relation) const { return relations_[relation.at()]; }
  /// Between two places of nodes in a relation.
  [[nodiscard]] const RoutePattern& pattern(RelationId relation, std::size_t from, std::size_t to);
  /// The first edges that a pattern counts from, by base.
  [[nodiscard]] std::array<std::size_t, RoutePattern::bases> anchors(NodeNumber from,
                                                                     NodeNumber to) const;

  /// Calls visit(edge, share) for each edge between two chips.
  template <class Visit>
  void for_each_edge(RankId from, RankId to, Visit&& visit) {
    if (from == to) return;
    const auto first = anchors(node(from), node(to));
    for (const RoutePattern::Hop& hop : pattern(from, to).hops_taken) {
      visit(EdgeId{first[static_cast<std::size_t>(hop.base)] + hop.offset}, hop.share);
    }
  }

private:
  [[nodiscard]] Route search(VertexId from, VertexId to);
  /// A node's scale-up links (even numbers, twice the node's) or all of it (odd), built once.
  const PathGraph& part(std::size_t number, PathGraph (*make)(const LinkGraph&, const NodeBlock&));
  [[nodiscard]] RoutePattern direct(RankId from, RankId to, RoutePattern::Base base);
  [[nodiscard]] RoutePattern between(NodeNumber from, std::size_t chip_a, NodeNumber to,
                                     std::size_t chip_b);
  /// Transport, and whether a root complex is crossed.
  void set_driver(RoutePattern& pattern, Relation nodes) const;
  const std::vector<Gate>& gates(const NodeBlock& node, std::size_t chip, bool leaving);
  const Route& fabric_route(VertexId from, VertexId to);

  const LinkGraph* graph_;
  bool keeps_loads_ = false;
  std::map<std::pair<VertexId, VertexId>, Route> routes_;
  std::vector<Relation> relations_;
  std::unordered_map<std::uint64_t, RelationId> relation_ids_;
  std::array<std::pair<std::uint64_t, RelationId>, 8> last_relations_{};  // key + 1; 0 = none
  std::vector<std::unordered_map<std::uint64_t, RoutePattern>> patterns_; // by relation
  std::unordered_map<std::uint64_t, std::vector<Gate>> gates_;
  std::unordered_map<std::uint64_t, std::shared_ptr<GateFinder>> finders_; // by shape, side
  std::unordered_map<std::uint64_t, Route> fabric_routes_;
  std::unordered_map<std::size_t, std::shared_ptr<const PathGraph>> parts_;
  std::shared_ptr<const PathGraph> fabric_; // built when first needed
};

} // namespace clustersim
