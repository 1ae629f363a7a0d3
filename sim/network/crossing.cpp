// Routes between nodes: the best pairs of an exit and an entry, and the fabric between them.

#include "base/bug.hpp"
#include "network/gates.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

namespace {

/// The cheapest gates of a chip at one leaf: whatever lies beyond it costs the same for all of
/// them.
struct LeafGates {
  VertexId leaf;
  PathCost cost = unreachable;
  std::vector<const Gate*> gates;
};

std::vector<LeafGates> by_leaf(const LinkGraph& graph, const NodeBlock& node,
                               const std::vector<Gate>& gates, bool leaving) {
  std::vector<LeafGates> found;
  for (const Gate& gate : gates) { // in order of cost
    const Edge port = graph.edge(EdgeId{node.first_edge.at() + gate.port});
    const VertexId leaf = leaving ? port.to : port.from;
    auto at = std::find_if(found.begin(), found.end(),
                           [&](const LeafGates& known) { return known.leaf == leaf; });
    const PathCost cost = cost_of(gate.inside);
    if (at == found.end()) at = found.insert(at, {leaf, cost, {}});
    if (cost == at->cost) at->gates.push_back(&gate);
  }
  return found;
}

/// Any exit of one leaf with any entry of another.
struct Crossing {
  const LeafGates* exits;
  const LeafGates* entries;
  const Route* fabric;
  [[nodiscard]] double pairs() const {
    return static_cast<double>(exits->gates.size() * entries->gates.size());
  }
};

std::vector<Crossing> cheapest(const std::vector<LeafGates>& exits,
                               const std::vector<LeafGates>& entries, const auto& fabric_route) {
  std::vector<Crossing> best;
  PathCost best_cost = unreachable;
  for (const LeafGates& exit : exits) {
    for (const LeafGates& entry : entries) {
      const PathCost ends = exit.cost + entry.cost;
      if (ends > best_cost) continue;
      const Route& fabric = fabric_route(exit.leaf, entry.leaf);
      if (fabric.edges.empty() && exit.leaf != entry.leaf) continue;
      const PathCost cost = ends + cost_of(fabric);
      if (cost > best_cost) continue;
      if (cost < best_cost) best.clear();
      best_cost = cost;
      best.push_back({&exit, &entry, &fabric});
    }
  }
  return best;
}

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

/// Evenly over all pairs of an exit and an entry.
RoutePattern spread_over(const std::vector<Crossing>& ways, const NodeSite& here,
                         const NodeSite& there) {
  RoutePattern pattern;
  double all = 0.0;
  for (const Crossing& way : ways)
    all += way.pairs();
  for (const Crossing& way : ways) {
    const double share = way.pairs() / all;
    const auto each = [&](const LeafGates& side, RoutePattern::Base base) {
      for (const Gate* gate : side.gates)
        append(pattern, base, gate->inside, share / static_cast<double>(side.gates.size()));
    };
    each(*way.exits, RoutePattern::Base::source);
    for (const EdgeShare& e : way.fabric->edges)
      pattern.hops_taken.push_back(in_fabric(e.edge, here, there, e.share * share));
    each(*way.entries, RoutePattern::Base::target);
  }
  const Crossing& any = ways.front();
  const Route &out = any.exits->gates.front()->inside, &in = any.entries->gates.front()->inside;
  pattern.latency = out.latency + any.fabric->latency + in.latency;
  pattern.hops = out.hops + any.fabric->hops + in.hops;
  return pattern;
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
  const std::vector<LeafGates> exits = by_leaf(*graph_, a, gates(a, chip_a, true), true);
  const std::vector<LeafGates> entries = by_leaf(*graph_, b, gates(b, chip_b, false), false);
  const std::vector<Crossing> best = cheapest(
      exits, entries, [&](VertexId x, VertexId y) -> const Route& { return fabric_route(x, y); });
  if (best.empty()) {
    throw Bug(fmt::format("no path from {} to {}",
                          graph_->vertex(graph_->chips()[rank(from, chip_a).at()]).name,
                          graph_->vertex(graph_->chips()[rank(to, chip_b).at()]).name));
  }
  return spread_over(best, graph_->site(a.group), graph_->site(b.group));
}

} // namespace clustersim
