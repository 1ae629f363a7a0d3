// Routes between nodes: the best pairs of an exit and an entry, and the fabric between them.

#include "base/bug.hpp"
#include "network/gates.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

namespace {

struct Crossing {
  const Gate* exit;
  const Gate* entry;
  const Route* fabric;
};

void append(RoutePattern& pattern, RoutePattern::Base base, const Route& part, double share) {
  for (const EdgeShare& e : part.edges) {
    pattern.hops_taken.push_back({base, e.edge.value, e.share * share});
  }
}

/// An edge between switches, counted from the unit or pod at either end that it belongs to.
RoutePattern::Hop in_fabric(EdgeId edge, const NodeSite& from, const NodeSite& to, double share) {
  using enum RoutePattern::Base;
  const auto in = [&](EdgeId first, int edges) {
    return edge.at() >= first.at() && edge.at() < first.at() + static_cast<std::size_t>(edges);
  };
  const auto hop = [&](RoutePattern::Base base, EdgeId first) {
    return RoutePattern::Hop{base, edge.value - first.value, share};
  };
  if (in(from.first_edge, from.edges)) return hop(source_unit, from.first_edge);
  if (in(to.first_edge, to.edges)) return hop(target_unit, to.first_edge);
  if (in(from.pod_edge, from.pod_edges)) return hop(source_pod, from.pod_edge);
  if (in(to.pod_edge, to.pod_edges)) return hop(target_pod, to.pod_edge);
  return hop(fabric, EdgeId{});
}

/// Two switches with common neighbours and no direct edge: two hops, the commonest case by far.
Route by_common_neighbours(const LinkGraph& graph, VertexId from, VertexId to) {
  Route best;
  PathCost best_cost = unreachable;
  for (const EdgeId up : graph.out_edges(from)) {
    const Edge& first = graph.edges()[up.at()];
    if (graph.vertex(first.to).node >= 0) continue;
    for (const EdgeId down : graph.in_edges(to)) {
      const Edge& second = graph.edges()[down.at()];
      if (second.from != first.to) continue;
      const PathCost cost = cost_of(first) + cost_of(second);
      if (cost > best_cost) continue;
      if (cost < best_cost) best.edges.clear();
      best_cost = cost;
      best.hops = 2;
      best.latency = first.latency + second.latency;
      best.edges.push_back({up, 1.0});
      best.edges.push_back({down, 1.0});
    }
  }
  for (EdgeShare& e : best.edges)
    e.share = 2.0 / static_cast<double>(best.edges.size());
  return best;
}

bool adjacent(const LinkGraph& graph, VertexId from, VertexId to) {
  const std::vector<EdgeId>& out = graph.out_edges(from);
  return std::any_of(out.begin(), out.end(),
                     [&](EdgeId e) { return graph.edges()[e.at()].to == to; });
}

} // namespace

const std::vector<Gate>& Router::gates(const NodeBlock& node, std::size_t chip, bool leaving) {
  const std::uint64_t key =
      (std::uint64_t{node.shape.value} << 33) | (std::uint64_t{chip} << 1) | (leaving ? 1U : 0U);
  const auto known = gates_.find(key);
  if (known != gates_.end()) return known->second;
  const std::uint64_t side = (std::uint64_t{node.shape.value} << 1) | (leaving ? 1U : 0U);
  std::shared_ptr<GateFinder>& finder = finders_[side];
  if (!finder) finder = std::make_shared<GateFinder>(*graph_, node, leaving);
  return gates_.emplace(key, finder->find(chip)).first->second;
}

const Route& Router::fabric_route(VertexId from, VertexId to) {
  const std::uint64_t key = (std::uint64_t{from.value} << 32) | to.value;
  const auto known = fabric_routes_.find(key);
  if (known != fabric_routes_.end()) return known->second;
  Route found;
  if (from != to && !adjacent(*graph_, from, to)) found = by_common_neighbours(*graph_, from, to);
  if (from != to && found.edges.empty()) {
    if (!fabric_) fabric_ = std::make_shared<const PathGraph>(PathGraph::fabric(*graph_));
    found = fabric_->route(from, to, fabric_->costs_from(from));
  }
  return fabric_routes_.emplace(key, std::move(found)).first->second;
}

RoutePattern Router::between(NodeNumber from, std::size_t chip_a, NodeNumber to,
                             std::size_t chip_b) {
  const NodeBlock &a = graph_->nodes()[from], &b = graph_->nodes()[to];
  const auto port = [&](const NodeBlock& node, const Gate& gate) {
    return graph_->edges()[node.first_edge.at() + gate.port];
  };
  std::vector<Crossing> best;
  PathCost best_cost = unreachable;
  for (const Gate& exit : gates(a, chip_a, true)) {
    for (const Gate& entry : gates(b, chip_b, false)) {
      const PathCost ends = cost_of(exit.inside) + cost_of(entry.inside);
      if (ends > best_cost) break; // entries come in order of cost
      const VertexId leaf_a = port(a, exit).to, leaf_b = port(b, entry).from;
      const Route& fabric = fabric_route(leaf_a, leaf_b);
      if (fabric.edges.empty() && leaf_a != leaf_b) continue;
      const PathCost cost = ends + cost_of(fabric);
      if (cost > best_cost) continue;
      if (cost < best_cost) best.clear();
      best_cost = cost;
      best.push_back({&exit, &entry, &fabric});
    }
  }
  if (best.empty()) {
    throw Bug(fmt::format("no path from {} to {}",
                          graph_->vertex(graph_->chips()[rank(from, chip_a).at()]).name,
                          graph_->vertex(graph_->chips()[rank(to, chip_b).at()]).name));
  }
  RoutePattern pattern;
  const NodeSite here = graph_->site(a.group), there = graph_->site(b.group);
  const double share = 1.0 / static_cast<double>(best.size());
  for (const Crossing& way : best) {
    append(pattern, RoutePattern::Base::source, way.exit->inside, share);
    for (const EdgeShare& e : way.fabric->edges) {
      pattern.hops_taken.push_back(in_fabric(e.edge, here, there, e.share * share));
    }
    append(pattern, RoutePattern::Base::target, way.entry->inside, share);
  }
  const Crossing& any = best.front();
  pattern.latency = any.exit->inside.latency + any.fabric->latency + any.entry->inside.latency;
  pattern.hops = any.exit->inside.hops + any.fabric->hops + any.entry->inside.hops;
  return pattern;
}

} // namespace clustersim
