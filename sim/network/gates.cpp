#include "network/gates.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

bool outside(const LinkGraph& graph, VertexId v) {
  return graph.vertices()[v.at()].node < 0;
}

} // namespace

GateFinder::GateFinder(const LinkGraph& graph, const NodeBlock& node, bool leaving)
    : graph_(&graph), node_(node), leaving_(leaving), paths_(PathGraph::node(graph, node)),
      scale_up_(PathGraph::scale_up(graph, node)) {
  const auto chips = static_cast<std::size_t>(node.chips);
  for (std::size_t c = 0; c < chips; ++c) {
    scale_up_costs_.push_back(scale_up_.costs_from(vertex_of(c)));
  }
  for (std::size_t c = 0; c < chips; ++c) {
    direct_.push_back(direct(vertex_of(c)));
  }
}

const std::vector<PathCost>& GateFinder::costs_from(VertexId vertex) {
  const auto known = costs_.find(vertex);
  if (known != costs_.end()) return known->second;
  return costs_.emplace(vertex, paths_.costs_from(vertex)).first->second;
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
std::vector<Gate> GateFinder::direct(VertexId chip) {
  std::vector<Gate> found;
  PathCost nearest = unreachable;
  for (std::size_t e = 0; e < static_cast<std::size_t>(node_.edges); ++e) {
    const EdgeId id{node_.first_edge.at() + e};
    const Edge& edge = graph_->edges()[id.at()];
    if (!outside(*graph_, leaving_ ? edge.to : edge.from)) continue;
    const VertexId port = leaving_ ? edge.from : edge.to;
    const VertexId from = leaving_ ? chip : port, to = leaving_ ? port : chip;
    const std::vector<PathCost>& costs = costs_from(from);
    if (costs[paths_.index(to)] > nearest) continue;
    const Route inside = paths_.route(from, to, costs);
    if (inside.edges.empty()) continue;
    if (costs[paths_.index(to)] < nearest) found.clear();
    nearest = costs[paths_.index(to)];
    found.push_back(
        {joined(inside, {{{id, 1.0}}, edge.latency, 1}), static_cast<std::uint32_t>(e)});
  }
  return found;
}

std::vector<Gate> GateFinder::by_peers(std::size_t chip) const {
  std::vector<Gate> found;
  for (std::size_t peer = 0; peer < direct_.size(); ++peer) {
    if (peer == chip) continue;
    const std::size_t from = leaving_ ? chip : peer, to = leaving_ ? peer : chip;
    const Route between = scale_up_.route(vertex_of(from), vertex_of(to), scale_up_costs_[from]);
    if (between.edges.empty()) continue;
    for (const Gate& gate : direct_[peer]) {
      found.push_back({joined(between, gate.inside), gate.port});
    }
  }
  return found;
}

PathCost cost_of(const Route& route) {
  return (PathCost{route.hops} << 42) + std::llround(route.latency.si() * 1e12);
}

std::vector<Gate> GateFinder::find(std::size_t chip) const {
  std::vector<Gate> gates = direct_[chip];
  const std::vector<Gate> more = by_peers(chip);
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
      e.edge = EdgeId{e.edge.at() - node_.first_edge.at()};
    }
  }
  return gates;
}

} // namespace clustersim
