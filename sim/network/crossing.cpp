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

/// Two switches with common neighbours and no direct edge: two hops, the commonest case by far.
Route by_common_neighbours(const LinkGraph& graph, VertexId from, VertexId to) {
  Route best;
  PathCost best_cost = unreachable;
  for (const EdgeId up : graph.out_edges(from)) {
    const Edge& first = graph.edges()[up.at()];
    if (graph.vertices()[first.to.at()].node >= 0) continue;
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
  std::shared_ptr<const GateFinder>& finder = finders_[side];
  if (!finder) finder = std::make_shared<const GateFinder>(*graph_, node, leaving);
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

RoutePattern Router::between(RankId from, RankId to) {
  const auto& nodes = graph_->nodes();
  const NodeBlock& a = nodes[static_cast<std::size_t>(graph_->node_of(from))];
  const NodeBlock& b = nodes[static_cast<std::size_t>(graph_->node_of(to))];
  const auto port = [&](const NodeBlock& node, const Gate& gate) {
    return graph_->edges()[node.first_edge.at() + gate.port];
  };
  std::vector<Crossing> best;
  PathCost best_cost = unreachable;
  for (const Gate& exit : gates(a, from.at() - a.first_chip.at(), true)) {
    for (const Gate& entry : gates(b, to.at() - b.first_chip.at(), false)) {
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
                          graph_->vertices()[graph_->chips()[from.at()].at()].name,
                          graph_->vertices()[graph_->chips()[to.at()].at()].name));
  }
  RoutePattern pattern;
  const double share = 1.0 / static_cast<double>(best.size());
  for (const Crossing& way : best) {
    append(pattern, RoutePattern::Base::source, way.exit->inside, share);
    append(pattern, RoutePattern::Base::fabric, *way.fabric, share);
    append(pattern, RoutePattern::Base::target, way.entry->inside, share);
  }
  const Crossing& any = best.front();
  pattern.latency = any.exit->inside.latency + any.fabric->latency + any.entry->inside.latency;
  pattern.hops = any.exit->inside.hops + any.fabric->hops + any.entry->inside.hops;
  return pattern;
}

} // namespace clustersim
