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
  for (std::size_t e = 0; e < static_cast<std::size_t>(node.edges); ++e) {
    const EdgeId id{node.first_edge.at() + e};
    const Edge edge = graph.edge(id);
    if (!outside(graph, leaving ? edge.to : edge.from)) continue;
    ports_.push_back({id, leaving ? edge.from : edge.to, edge.latency});
  }
  // On a torus the way to another chip's card is longer than that to one's own.
  if (!graph.torus(node.shape).empty()) return;
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
  PathCost nearest = unreachable;
  const auto cost_to = [&](const Port& port) {
    return leaving_ ? costs_from(chip)[paths_.index(port.card)]
                    : costs_from(port.card)[paths_.index(chip)];
  };
  for (const Port& port : ports_)
    nearest = std::min(nearest, cost_to(port));
  std::vector<Gate> found;
  for (const Port& port : ports_) {
    if (nearest == unreachable || cost_to(port) != nearest) continue;
    const VertexId from = leaving_ ? chip : port.card, to = leaving_ ? port.card : chip;
    const Route inside = paths_.route(from, to, costs_from(from));
    if (inside.edges.empty()) continue;
    found.push_back({joined(inside, {{{port.edge, 1.0}}, port.latency, 1}),
                     static_cast<std::uint32_t>(port.edge.at() - node_.first_edge.at())});
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

std::vector<Gate> GateFinder::find(std::size_t chip) {
  std::vector<Gate> gates = direct_.empty() ? direct(vertex_of(chip)) : direct_[chip];
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
