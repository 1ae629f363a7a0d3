#include "network/gates.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

class GateFinder {
public:
  GateFinder(const LinkGraph& graph, const NodeBlock& node, bool leaving)
      : graph_(graph), node_(node), leaving_(leaving), paths_(PathGraph::node(graph, node)),
        scale_up_(PathGraph::scale_up(graph, node)) {}

  [[nodiscard]] std::vector<Gate> direct(VertexId chip) const;
  [[nodiscard]] std::vector<Gate> by_peers(VertexId chip) const;

private:
  [[nodiscard]] Route towards(const PathGraph& paths, VertexId chip, VertexId other) const {
    const VertexId from = leaving_ ? chip : other, to = leaving_ ? other : chip;
    return paths.route(from, to, paths.costs_from(from));
  }
  [[nodiscard]] Route joined(const Route& near_chip, const Route& near_port) const;

  const LinkGraph& graph_;
  const NodeBlock& node_;
  bool leaving_;
  PathGraph paths_, scale_up_;
};

bool outside(const LinkGraph& graph, VertexId v) {
  return graph.vertices()[v.at()].node < 0;
}

/// Both parts in the order of travel.
Route GateFinder::joined(const Route& near_chip, const Route& near_port) const {
  Route all = leaving_ ? near_chip : near_port;
  const Route& rest = leaving_ ? near_port : near_chip;
  all.edges.insert(all.edges.end(), rest.edges.begin(), rest.edges.end());
  all.latency += rest.latency;
  all.hops += rest.hops;
  return all;
}

/// By the chip's own NICs: those that are nearest to it, all of them if several are.
std::vector<Gate> GateFinder::direct(VertexId chip) const {
  std::vector<Gate> found;
  PathCost nearest = unreachable;
  for (std::size_t e = 0; e < static_cast<std::size_t>(node_.edges); ++e) {
    const EdgeId id{node_.first_edge.at() + e};
    const Edge& edge = graph_.edges()[id.at()];
    if (!outside(graph_, leaving_ ? edge.to : edge.from)) continue;
    const Route inside = towards(paths_, chip, leaving_ ? edge.from : edge.to);
    if (inside.edges.empty() || cost_of(inside) > nearest) continue;
    if (cost_of(inside) < nearest) found.clear();
    nearest = cost_of(inside);
    found.push_back(
        {joined(inside, {{{id, 1.0}}, edge.latency, 1}), static_cast<std::uint32_t>(e)});
  }
  return found;
}

std::vector<Gate> GateFinder::by_peers(VertexId chip) const {
  std::vector<Gate> found;
  for (int c = 0; c < node_.chips; ++c) {
    const VertexId peer = graph_.chips()[node_.first_chip.at() + static_cast<std::size_t>(c)];
    if (peer == chip) continue;
    const Route to_peer = towards(scale_up_, chip, peer);
    if (to_peer.edges.empty()) continue;
    std::vector<Gate> gates = direct(peer);
    for (Gate& gate : gates)
      found.push_back({joined(to_peer, gate.inside), gate.port});
  }
  return found;
}

} // namespace

PathCost cost_of(const Route& route) {
  return (PathCost{route.hops} << 42) + std::llround(route.latency.si() * 1e12);
}

std::vector<Gate> find_gates(const LinkGraph& graph, const NodeBlock& node, std::size_t chip,
                             bool leaving) {
  const GateFinder finder(graph, node, leaving);
  const VertexId vertex = graph.chips()[node.first_chip.at() + chip];
  std::vector<Gate> gates = finder.direct(vertex);
  const std::vector<Gate> more = finder.by_peers(vertex);
  gates.insert(gates.end(), more.begin(), more.end());
  std::stable_sort(gates.begin(), gates.end(), [](const Gate& a, const Gate& b) {
    return a.port != b.port ? a.port < b.port : cost_of(a.inside) < cost_of(b.inside);
  });
  gates.erase(std::unique(gates.begin(), gates.end(),
                          [](const Gate& a, const Gate& b) { return a.port == b.port; }),
              gates.end());
  std::stable_sort(gates.begin(), gates.end(), [](const Gate& a, const Gate& b) {
    return cost_of(a.inside) < cost_of(b.inside);
  });
  for (Gate& gate : gates) {
    for (EdgeShare& e : gate.inside.edges) {
      e.edge = EdgeId{e.edge.at() - node.first_edge.at()};
    }
  }
  return gates;
}

} // namespace clustersim
