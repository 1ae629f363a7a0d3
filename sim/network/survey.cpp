#include "network/survey.hpp"

#include "base/bug.hpp"
#include "network/fold.hpp"
#include "network/routing.hpp"
#include "network/shortest_path.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace clustersim {
namespace {

/// Of more chips than this, so many spread over the ranks stand for the rest.
constexpr std::size_t most_sources = 64;

std::vector<LinkTier> tiers_of(const LinkGraph& graph) {
  std::map<std::tuple<VertexKind, VertexKind, std::uint32_t>, LinkTier> found;
  std::map<std::tuple<VertexKind, VertexKind, std::uint32_t>, std::int64_t> directed;
  for (const Edge& edge : graph.edges()) {
    const VertexKind from = graph.kind(edge.from);
    const VertexKind to = graph.kind(edge.to);
    const VertexKind a = std::min(from, to), b = std::max(from, to);
    const std::tuple key{a, b, edge.link_class.value};
    const std::int64_t before = directed[key]++;
    LinkTier& tier = found[key];
    tier.slowest = before == 0 ? edge.capacity : std::min(tier.slowest, edge.capacity);
    tier.fastest = std::max(tier.fastest, edge.capacity);
    tier.latency = std::max(tier.latency, edge.latency);
    tier.total += edge.capacity * 0.5;
    tier.a = a;
    tier.b = b;
    tier.link_class = edge.link_class;
    tier.links = (before + 2) / 2;
  }
  std::vector<LinkTier> tiers;
  for (const auto& [key, tier] : found)
    tiers.push_back(tier);
  const auto outside = [](const LinkTier& tier) { return tier.b >= VertexKind::leaf; };
  std::stable_partition(tiers.begin(), tiers.end(),
                        [&](const LinkTier& tier) { return !outside(tier); });
  return tiers;
}

/// How far each switch stands above the cards: 1 where these plug in.
std::vector<int> levels_of(const LinkGraph& graph) {
  std::vector<int> level(graph.vertices().size(), -1);
  std::vector<std::size_t> open, next;
  for (std::size_t v = 0; v < level.size(); ++v) {
    if (graph.vertices()[v].node < 0) continue;
    level[v] = 0;
    if (graph.kind(VertexId{v}) == VertexKind::nic) open.push_back(v);
  }
  for (int at = 1; !open.empty(); ++at, open.swap(next)) {
    next.clear();
    for (const std::size_t v : open) {
      for (const EdgeId e : graph.out_edges(VertexId{v})) {
        const std::size_t to = graph.edge(e).to.at();
        if (level[to] >= 0) continue;
        level[to] = at;
        next.push_back(to);
      }
    }
  }
  return level;
}

std::vector<SwitchTier> switches_of(const LinkGraph& graph) {
  const std::vector<int> level = levels_of(graph);
  std::map<int, SwitchTier> tiers;
  for (std::size_t v = 0; v < level.size(); ++v) {
    if (level[v] < 1) continue;
    BytesPerSecond down, up;
    for (const EdgeId e : graph.out_edges(VertexId{v})) {
      const Edge edge = graph.edge(e);
      (level[edge.to.at()] > level[v] ? up : down) += edge.capacity;
    }
    SwitchTier& tier = tiers[level[v]];
    const bool first = tier.switches++ == 0;
    if (first) tier.name = name_of(graph.kind(VertexId{v}));
    if (first || down / std::max(up, BytesPerSecond{1.0}) >
                     tier.down / std::max(tier.up, BytesPerSecond{1.0})) {
      tier.down = down;
      tier.up = up;
    }
  }
  std::vector<SwitchTier> out;
  for (auto& [at, tier] : tiers)
    out.push_back(std::move(tier));
  return out;
}

struct Way {
  Medium medium = Medium::network;
  LinkClassId link_class;
  BytesPerSecond rate;
  int hops = 0;
  Seconds latency;
};

template <class Shares> // of (EdgeId, double)
void set_rate(const LinkGraph& graph, const Shares& edges, Way& way) {
  bool first = true;
  for (const auto& [edge, share] : edges) {
    const BytesPerSecond rate = graph.edge(edge).capacity / share;
    if (!first && rate >= way.rate) continue;
    first = false;
    way.rate = rate;
    way.link_class = graph.edge(edge).link_class;
  }
}

Medium medium_of(const LinkGraph& graph, const Route& route) {
  Medium medium = Medium::scale_up;
  for (const EdgeShare& e : route.edges) {
    const VertexKind kind = graph.kind(graph.edge(e.edge).to);
    if (kind == VertexKind::host_memory) return Medium::host_memory;
    if (kind != VertexKind::chip && kind != VertexKind::scale_up_switch)
      medium = Medium::peer_to_peer;
  }
  return medium;
}

/// Ways from one chip to the others of its node, in one search.
class InsideNode {
public:
  InsideNode(const LinkGraph& graph, std::size_t chip)
      : graph_(graph), from_(graph.chips()[chip]),
        block_(graph.nodes()[static_cast<std::size_t>(graph.node_of(RankId{chip}))]),
        scale_up_(PathGraph::scale_up(graph, block_)), node_(PathGraph::node(graph, block_)),
        near_(scale_up_.costs_from(from_)), far_(node_.costs_from(from_)) {}
  [[nodiscard]] PathCost cost(VertexId to) const {
    const PathCost near = near_[scale_up_.index(to)];
    return near != unreachable ? near : far_[node_.index(to)];
  }
  [[nodiscard]] Way way(VertexId to) const {
    const bool near = near_[scale_up_.index(to)] != unreachable;
    const Route route = near ? scale_up_.route(from_, to, near_) : node_.route(from_, to, far_);
    if (route.edges.empty()) throw Bug("no path inside a node");
    std::vector<std::pair<EdgeId, double>> shares;
    for (const EdgeShare& e : route.edges)
      shares.emplace_back(e.edge, e.share);
    Way way{medium_of(graph_, route), {}, {}, route.hops, route.latency};
    set_rate(graph_, shares, way);
    return way;
  }
  [[nodiscard]] std::size_t begin() const { return block_.first_chip.at(); }
  [[nodiscard]] std::size_t end() const { return begin() + static_cast<std::size_t>(block_.chips); }

private:
  const LinkGraph& graph_;
  VertexId from_;
  NodeBlock block_;
  PathGraph scale_up_, node_;
  std::vector<PathCost> near_, far_;
};

Way across(const LinkGraph& graph, Router& router, RankId from, RankId to) {
  const RoutePattern& pattern = router.pattern(from, to);
  std::vector<std::pair<EdgeId, double>> shares;
  router.for_each_edge(from, to,
                       [&](EdgeId edge, double share) { shares.emplace_back(edge, share); });
  Way way{Medium::network, {}, {}, pattern.hops, pattern.latency};
  set_rate(graph, shares, way);
  return way;
}

void add_way(std::map<Medium, Reach>& reaches, const Way& way) {
  Reach& reach = reaches[way.medium];
  const bool first = reach.peers++ == 0;
  if (first || way.rate < reach.slowest) {
    reach.slowest = way.rate;
    reach.link_class = way.link_class;
  }
  reach.medium = way.medium;
  reach.fastest = first ? way.rate : std::max(reach.fastest, way.rate);
  reach.fewest_hops = first ? way.hops : std::min(reach.fewest_hops, way.hops);
  reach.most_hops = std::max(reach.most_hops, way.hops);
  reach.shortest = first ? way.latency : std::min(reach.shortest, way.latency);
  reach.longest = std::max(reach.longest, way.latency);
}

std::vector<Reach> reaches_of(const LinkGraph& graph, Router& router) {
  std::map<Medium, Reach> reaches;
  const InsideNode inside(graph, 0);
  for (std::size_t chip = 1; chip < graph.chips().size(); ++chip) {
    const bool same = chip >= inside.begin() && chip < inside.end();
    add_way(reaches, same ? inside.way(graph.chips()[chip])
                          : across(graph, router, RankId{0}, RankId{chip}));
  }
  std::vector<Reach> out;
  for (const auto& [medium, reach] : reaches)
    out.push_back(reach);
  return out;
}

/// Chips of two nodes of every group, and the last chip of all; thinned out where they are many.
std::vector<std::size_t> stand_ins(const LinkGraph& graph) {
  std::vector<std::size_t> nodes, chips;
  std::map<NodeGroupId, int> seen;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (++seen[graph.nodes()[n].group] <= 2) nodes.push_back(n);
  }
  const std::size_t step = (nodes.size() - 1) / most_sources + 1;
  for (std::size_t i = 0; i < nodes.size(); i += step) {
    const NodeBlock& block = graph.nodes()[nodes[i]];
    const std::size_t each = (static_cast<std::size_t>(block.chips) - 1) / most_sources + 1;
    for (std::size_t c = 0; c < static_cast<std::size_t>(block.chips); c += each)
      chips.push_back(block.first_chip.at() + c);
  }
  if (chips.back() + 1 < graph.chips().size()) chips.push_back(graph.chips().size() - 1);
  return chips;
}

void set_diameter(const LinkGraph& graph, Router& router, Survey& out) {
  const std::vector<std::size_t> targets = stand_ins(graph);
  const std::size_t step = (targets.size() - 1) / most_sources + 1;
  const auto consider = [&](int hops, Seconds latency) {
    const bool longer = std::tuple{hops, latency} > std::tuple{out.diameter, out.diameter_latency};
    if (!longer) return;
    out.diameter = hops;
    out.diameter_latency = latency;
  };
  for (std::size_t i = 0; i < targets.size(); i += step) {
    ++out.diameter_sources;
    const InsideNode inside(graph, targets[i]);
    std::size_t farthest = targets[i];
    PathCost cost = 0;
    for (std::size_t chip = inside.begin(); chip < inside.end(); ++chip) {
      if (chip == targets[i] || inside.cost(graph.chips()[chip]) <= cost) continue;
      cost = inside.cost(graph.chips()[chip]);
      farthest = chip;
    }
    if (farthest != targets[i]) {
      const Way way = inside.way(graph.chips()[farthest]);
      consider(way.hops, way.latency);
    }
    for (const std::size_t target : targets) {
      if (target >= inside.begin() && target < inside.end()) continue;
      const RoutePattern& pattern = router.pattern(RankId{targets[i]}, RankId{target});
      consider(pattern.hops, pattern.latency);
    }
  }
}

} // namespace

std::string_view name_of(Medium medium) {
  switch (medium) {
  case Medium::scale_up:
    return "scale-up links";
  case Medium::peer_to_peer:
    return "PCIe, peer to peer";
  case Medium::host_memory:
    return "PCIe, through host memory";
  case Medium::network:
    return "network";
  }
  throw Bug("unknown medium");
}

Survey survey_of(const LinkGraph& graph) {
  Survey out;
  for (const Vertex& vertex : graph.vertices())
    ++out.vertices[static_cast<std::size_t>(vertex.kind)];
  out.edges = static_cast<std::int64_t>(graph.edges().size());
  out.tiers = tiers_of(graph);
  out.switches = switches_of(graph);
  if (graph.chips().size() > 1) {
    Router router(graph);
    out.reaches = reaches_of(graph, router);
    set_diameter(graph, router, out);
  }
  out.bisection = bisection_of(graph);
  return out;
}

} // namespace clustersim
