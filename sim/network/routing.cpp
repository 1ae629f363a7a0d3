#include "network/routing.hpp"

#include "base/bug.hpp"
#include "network/shortest_path.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

namespace {

[[noreturn]] void no_path(const LinkGraph& graph, VertexId from, VertexId to) {
  throw Bug(fmt::format("no path from {} to {}", graph.vertices()[from.at()].name,
                        graph.vertices()[to.at()].name));
}

/// Which table entry serves a pair of chips: their groups and places, and whether they share a
/// node.
std::uint64_t pattern_key(const NodeBlock& a, std::size_t chip_a, const NodeBlock& b,
                          std::size_t chip_b, bool same) {
  const std::uint64_t first = (std::uint64_t{a.group.value} << 16) | chip_a;
  const std::uint64_t second = (std::uint64_t{b.group.value} << 16) | chip_b;
  return (first << 32) | (second << 1) | (same ? 1U : 0U);
}

/// The link between two chips that have one of their own: no path is shorter.
Route own_link(const LinkGraph& graph, VertexId from, VertexId to) {
  for (const EdgeId id : graph.out_edges(from)) {
    const Edge& edge = graph.edges()[id.at()];
    if (edge.to == to) return {{{id, 1.0}}, edge.latency, 1};
  }
  return {};
}

} // namespace

Route Router::search(VertexId from, VertexId to) const {
  const Vertex& source = graph_->vertices()[from.at()];
  const Vertex& target = graph_->vertices()[to.at()];
  const auto node = static_cast<std::size_t>(std::max(0, source.node));
  const bool inside =
      source.node >= 0 && source.node == target.node && node < graph_->nodes().size();
  Route found;
  const auto try_in = [&](const PathGraph& paths) {
    found = paths.route(from, to, paths.costs_from(from));
  };
  if (inside && source.kind == VertexKind::chip && target.kind == VertexKind::chip) {
    found = own_link(*graph_, from, to);
    if (found.edges.empty()) try_in(PathGraph::scale_up(*graph_, graph_->nodes()[node]));
  }
  if (found.edges.empty()) {
    try_in(inside ? PathGraph::node(*graph_, graph_->nodes()[node]) : PathGraph::whole(*graph_));
  }
  if (found.edges.empty() && from != to) no_path(*graph_, from, to);
  return found;
}

const Route& Router::route(VertexId from, VertexId to) {
  const auto known = routes_.find({from, to});
  if (known != routes_.end()) return known->second;
  return routes_.emplace(std::make_pair(from, to), search(from, to)).first->second;
}

const RoutePattern& Router::pattern(RankId from, RankId to) {
  const std::vector<NodeBlock>& nodes = graph_->nodes();
  const int a = graph_->node_of(from), b = graph_->node_of(to);
  if (a < 0 || b < 0) {
    const auto known = loose_.find({from, to});
    return known != loose_.end()
               ? known->second
               : loose_.emplace(std::pair{from, to}, loose(from, to)).first->second;
  }
  const NodeBlock& source = nodes[static_cast<std::size_t>(a)];
  const NodeBlock& target = nodes[static_cast<std::size_t>(b)];
  const std::uint64_t key = pattern_key(source, from.at() - source.first_chip.at(), target,
                                        to.at() - target.first_chip.at(), a == b);
  const auto known = patterns_.find(key);
  if (known != patterns_.end()) return known->second;
  RoutePattern found = a == b ? inside(source, from, to) : between(from, to);
  set_driver(found, from, to);
  return patterns_.emplace(key, std::move(found)).first->second;
}

void Router::set_driver(RoutePattern& pattern, RankId from, RankId to) const {
  const auto importance = [&](const Edge& edge) {
    const VertexKind a = graph_->vertices()[edge.from.at()].kind;
    const VertexKind b = graph_->vertices()[edge.to.at()].kind;
    const auto is = [&](VertexKind kind) { return a == kind || b == kind; };
    if (is(VertexKind::leaf) || is(VertexKind::spine)) return a == VertexKind::nic ? 4 : 3;
    if (is(VertexKind::host_memory)) return 2;
    return is(VertexKind::pcie_switch) || is(VertexKind::root_complex) ? 1 : 0;
  };
  int most = -1;
  bool root = false;
  for (const RoutePattern::Hop& hop : pattern.hops_taken) {
    const Edge& edge = graph_->edges()[edge_at(hop, from, to).at()];
    if (importance(edge) > most) pattern.transport = edge.link_class;
    most = std::max(most, importance(edge));
    root = root || graph_->vertices()[edge.to.at()].kind == VertexKind::root_complex;
  }
  pattern.through_root = root && most == 1; // staged and networked traffic has limits of its own
}

/// Graphs written out vertex by vertex have no nodes: each pair has a route of its own.
RoutePattern Router::loose(RankId from, RankId to) const {
  const Route found = search(graph_->chips()[from.at()], graph_->chips()[to.at()]);
  RoutePattern pattern;
  pattern.latency = found.latency;
  pattern.hops = found.hops;
  for (const EdgeShare& e : found.edges) {
    pattern.hops_taken.push_back({RoutePattern::Base::fabric, e.edge.value, e.share});
  }
  set_driver(pattern, from, to);
  return pattern;
}

RoutePattern Router::inside(const NodeBlock& node, RankId from, RankId to) const {
  const Route found = search(graph_->chips()[from.at()], graph_->chips()[to.at()]);
  RoutePattern pattern;
  pattern.latency = found.latency;
  pattern.hops = found.hops;
  for (const EdgeShare& e : found.edges) {
    pattern.hops_taken.push_back(
        {RoutePattern::Base::source, e.edge.value - node.first_edge.value, e.share});
  }
  return pattern;
}

} // namespace clustersim
