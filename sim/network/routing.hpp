#pragma once
// Shortest paths by (hops, latency), traffic split evenly over equal-cost next hops (ECMP).

#include "network/link_graph.hpp"

#include <map>
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

class Router {
public:
  explicit Router(const LinkGraph& graph) : graph_(&graph) {}
  /// Throws Bug when there is no path: the generators and the input layer guarantee one.
  [[nodiscard]] const Route& route(VertexId from, VertexId to);

private:
  const LinkGraph* graph_;
  std::map<std::pair<VertexId, VertexId>, Route> routes_; // memo
};

} // namespace clustersim
