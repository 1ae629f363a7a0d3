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

/// The link between two chips that have one of their own: no path is shorter.
Route own_link(const LinkGraph& graph, VertexId from, VertexId to) {
  for (const EdgeId id : graph.out_edges(from)) {
    const Edge& edge = graph.edges()[id.at()];
    if (edge.to == to) return {{{id, 1.0}}, edge.latency, 1};
  }
  return {};
}

} // namespace

const PathGraph& Router::part(std::size_t number,
                              PathGraph (*make)(const LinkGraph&, const NodeBlock&)) {
  std::shared_ptr<const PathGraph>& known = parts_[number];
  if (!known) known = std::make_shared<const PathGraph>(make(*graph_, graph_->nodes()[number / 2]));
  return *known;
}

Route Router::search(VertexId from, VertexId to) {
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
    if (found.edges.empty()) try_in(part(2 * node, PathGraph::scale_up));
  }
  if (found.edges.empty() && inside) try_in(part(2 * node + 1, PathGraph::node));
  if (found.edges.empty() && !inside) try_in(PathGraph::whole(*graph_));
  if (found.edges.empty() && from != to) no_path(*graph_, from, to);
  return found;
}

const Route& Router::route(VertexId from, VertexId to) {
  const auto known = routes_.find({from, to});
  if (known != routes_.end()) return known->second;
  return routes_.emplace(std::make_pair(from, to), search(from, to)).first->second;
}

NodeNumber Router::node(RankId rank) const {
  const int node = graph_->node_of(rank);
  return node < 0 ? static_cast<NodeNumber>(graph_->nodes().size()) : static_cast<NodeNumber>(node);
}

NodeNumber Router::nodes() const {
  return static_cast<NodeNumber>(graph_->nodes().size()) + 1;
}

std::size_t Router::first_chip(NodeNumber node) const {
  return node < graph_->nodes().size() ? graph_->nodes()[node].first_chip.at() : 0;
}

RelationId Router::relation(NodeNumber from, NodeNumber to) {
  enum : std::uint64_t { same_node, same_unit, same_pod, apart, loose };
  const std::vector<NodeBlock>& all = graph_->nodes();
  std::uint64_t key = loose;
  if (from < all.size() && to < all.size()) {
    const NodeBlock &a = all[from], &b = all[to];
    if (from == to) {
      key = (std::uint64_t{a.shape.value} << 3) | same_node;
    } else {
      const NodeSite here = graph_->site(a.group), there = graph_->site(b.group);
      const bool pod = here.shape == there.shape && here.pod == there.pod;
      const std::uint64_t near = a.group == b.group ? same_unit : pod ? same_pod : apart;
      key = (std::uint64_t{here.shape} << 34) | (std::uint64_t{there.shape} << 3) | near;
    }
  }
  auto& [last_key, last] = last_relations_[key & 7]; // pairs of a kind follow one another
  if (last_key == key + 1) return last;
  const auto [found, fresh] = relation_ids_.try_emplace(key, RelationId{relations_.size()});
  last_key = key + 1;
  last = found->second;
  if (fresh) {
    relations_.push_back({from, to});
    patterns_.emplace_back();
  }
  return found->second;
}

const RoutePattern& Router::pattern(RelationId relation, std::size_t from, std::size_t to) {
  const std::uint64_t key = (std::uint64_t{from} << 32) | to;
  std::unordered_map<std::uint64_t, RoutePattern>& known = patterns_[relation.at()];
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const Relation nodes = relations_[relation.at()];
  const bool loose = std::max(nodes.from, nodes.to) >= graph_->nodes().size();
  const RankId a = rank(nodes.from, from), b = rank(nodes.to, to);
  RoutePattern fresh = loose                    ? direct(a, b, RoutePattern::Base::fabric)
                       : nodes.from == nodes.to ? direct(a, b, RoutePattern::Base::source)
                                                : between(nodes.from, from, nodes.to, to);
  set_driver(fresh, nodes);
  return known.emplace(key, std::move(fresh)).first->second;
}

const RoutePattern& Router::pattern(RankId from, RankId to) {
  const NodeNumber a = node(from), b = node(to);
  return pattern(relation(a, b), from.at() - first_chip(a), to.at() - first_chip(b));
}

std::array<std::size_t, RoutePattern::bases> Router::anchors(NodeNumber from, NodeNumber to) const {
  std::array<std::size_t, RoutePattern::bases> first{};
  const std::vector<NodeBlock>& all = graph_->nodes();
  for (const bool sends : {true, false}) {
    const NodeNumber node = sends ? from : to;
    if (node >= all.size()) continue;
    const NodeSite site = graph_->site(all[node].group);
    using enum RoutePattern::Base;
    first[static_cast<std::size_t>(sends ? source : target)] = all[node].first_edge.at();
    first[static_cast<std::size_t>(sends ? source_unit : target_unit)] = site.first_edge.at();
    first[static_cast<std::size_t>(sends ? source_pod : target_pod)] = site.pod_edge.at();
  }
  return first;
}

void Router::set_driver(RoutePattern& pattern, Relation nodes) const {
  const auto importance = [&](const Edge& edge) {
    const VertexKind a = graph_->kind(edge.from), b = graph_->kind(edge.to);
    const auto is = [&](VertexKind kind) { return a == kind || b == kind; };
    if (is(VertexKind::leaf) || is(VertexKind::spine)) return a == VertexKind::nic ? 4 : 3;
    if (is(VertexKind::host_memory)) return 2;
    return is(VertexKind::pcie_switch) || is(VertexKind::root_complex) ? 1 : 0;
  };
  const auto first = anchors(nodes.from, nodes.to);
  int most = -1;
  bool root = false;
  for (const RoutePattern::Hop& hop : pattern.hops_taken) {
    const Edge edge = graph_->edge(EdgeId{first[static_cast<std::size_t>(hop.base)] + hop.offset});
    if (importance(edge) > most) pattern.transport = edge.link_class;
    most = std::max(most, importance(edge));
    root = root || graph_->kind(edge.to) == VertexKind::root_complex;
  }
  pattern.through_root = root && most == 1; // staged and networked traffic has limits of its own
}

/// Within a node, or in a graph written out vertex by vertex.
RoutePattern Router::direct(RankId from, RankId to, RoutePattern::Base base) {
  const Route found = search(graph_->chips()[from.at()], graph_->chips()[to.at()]);
  const bool inside = base == RoutePattern::Base::source;
  const auto node = static_cast<std::size_t>(std::max(0, graph_->node_of(from)));
  const std::size_t first = inside ? graph_->nodes()[node].first_edge.at() : 0;
  RoutePattern pattern;
  pattern.latency = found.latency;
  pattern.hops = found.hops;
  for (const EdgeShare& e : found.edges) {
    pattern.hops_taken.push_back({base, static_cast<std::uint32_t>(e.edge.at() - first), e.share});
  }
  return pattern;
}

} // namespace clustersim
