// Ring: every rank sends to the next one, as many rings side by side as a node has members.
//
//   all-reduce      2(n−1) steps, 2(n−1)/n bytes per payload byte and rank
//   all-gather, reduce-scatter   n−1 steps, (n−1)/n
//   broadcast, reduce            n−1 steps, 1: a chain, from the root round to its neighbour
//
// Across nodes ring r enters each node at member r and leaves it at member r−1, so that the rings
// share the node's NICs evenly.

#include "network/algorithms.hpp"
#include "network/exchange.hpp"
#include "network/node_rings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace clustersim {

namespace {

struct RingShape {
  double bytes = 0.0; // that each rank passes on, per payload byte
  double steps = 0.0;
};

RingShape shape_of(CollectiveKind kind, double n) {
  switch (kind) {
  case CollectiveKind::all_reduce:
    return {2.0 * (n - 1) / n, 2.0 * (n - 1)};
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
    return {(n - 1) / n, n - 1};
  case CollectiveKind::broadcast:
  case CollectiveKind::reduce:
    return {1.0, n - 1};
  case CollectiveKind::all_to_all:
  case CollectiveKind::send_recv:
    break;
  }
  return {};
}

using Group = std::span<const Segment>;

class RingBuilder {
public:
  RingBuilder(const LinkGraph& graph, Router& router, const Layout& layout, RingOrder order)
      : layout_(layout), router_(router), traffic_(graph, router, layout),
        rings_(graph, traffic_, layout, order), shift_(traffic_, layout) {}
  void add(Group group, double bytes);
  /// One ring's own chain of steps: inside each node from rank to rank, across between the same
  /// places; like hops as one.
  [[nodiscard]] std::vector<SerialHop> chain(Group group, double steps);
  [[nodiscard]] Seconds length(const std::vector<SerialHop>& hops) const;
  [[nodiscard]] Traffic& traffic() { return traffic_; }

private:
  BundleId crossing(const Segment& here, const Segment& next, bool odd, bool last, double share);

  const Layout& layout_;
  Router& router_;
  Traffic traffic_;
  NodeRings rings_;
  Shift shift_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool, bool>, BundleId> crossings_;
};

BundleId RingBuilder::crossing(const Segment& here, const Segment& next, bool odd, bool last,
                               double share) {
  const auto [found, fresh] = crossings_.try_emplace({here.places, next.places, odd, last});
  if (!fresh) return found->second;
  const Places &from = layout_.places(here), &to = layout_.places(next);
  const std::size_t g = from.size();
  std::vector<PlaceFlow> flows;
  for (std::size_t r = 0; r < g; ++r) {
    const std::size_t exit = odd ? r : (r + g - 1) % g;
    flows.push_back({from[exit], to[last ? r : exit], share});
  }
  return found->second = traffic_.bundle(std::move(flows));
}

void RingBuilder::add(Group group, double bytes) {
  if (group.size() == 1) {
    rings_.add(group.front(), bytes);
    return;
  }
  if (!layout_.even(group)) {
    shift_.add(group, bytes);
    return;
  }
  const auto g = static_cast<double>(layout_.size(group.front()));
  for (std::size_t k = 0; k < group.size(); ++k) {
    const bool last = k + 1 == group.size();
    const Segment &here = group[k], &next = group[last ? 0 : k + 1];
    rings_.add(here, bytes / g * (g - 1));
    traffic_.move(here.node, next.node, crossing(here, next, k % 2 == 1, last, bytes / g));
  }
}

std::vector<SerialHop> RingBuilder::chain(Group group, double steps) {
  double members = 0.0;
  for (const Segment& segment : group)
    members += static_cast<double>(layout_.size(segment));
  std::map<std::pair<RelationId, std::uint32_t>, std::pair<Segment, double>> inside;
  std::map<std::tuple<RelationId, std::uint32_t, std::uint32_t>, SerialHop> across;
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Segment &here = group[k], &next = group[(k + 1) % group.size()];
    const RelationId own = router_.relation(here.node, here.node);
    ++inside.try_emplace({own, here.places}, here, 0.0).first->second.second;
    const Places& order = rings_.order_of(here);
    const std::uint32_t from = group.size() == 1 ? order.back() : order.front();
    const std::uint32_t to = rings_.order_of(next).front();
    SerialHop& hop = across[{router_.relation(here.node, next.node), from, to}];
    hop.from = router_.rank(here.node, from);
    hop.to = router_.rank(next.node, to);
    hop.steps += steps / members;
    hop.traversals = hop.steps;
  }
  std::vector<SerialHop> hops;
  for (const auto& [key, found] : inside) {
    const auto& [segment, count] = found;
    const Places& order = rings_.order_of(segment);
    const double each = count * steps / members;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      hops.push_back({router_.rank(segment.node, order[i]),
                      router_.rank(segment.node, order[i + 1]), each, each});
    }
  }
  for (const auto& [key, hop] : across)
    hops.push_back(hop);
  return hops;
}

Seconds RingBuilder::length(const std::vector<SerialHop>& hops) const {
  Seconds total;
  for (const SerialHop& hop : hops)
    total += router_.pattern(hop.from, hop.to).latency * hop.steps;
  return total;
}

} // namespace

Forms ring_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family) {
  const RingShape shape = shape_of(kind, family.size);
  if (shape.steps <= 0.0) return {};
  const Layout layout(graph, router, family);
  Forms forms;
  for (const RingOrder order : ring_orders(graph, router, layout, layout.group(0))) {
    RingBuilder ring(graph, router, layout, order);
    ring.traffic().local = 1.0 / family.size;
    std::optional<Seconds> longest;
    for (std::size_t i = 0; i < layout.groups(); ++i) {
      ring.add(layout.group(i), shape.bytes);
      std::vector<SerialHop> hops = ring.chain(layout.group(i), shape.steps);
      const Seconds now = ring.length(hops);
      if (longest && !(now > *longest)) continue;
      ring.traffic().serial = std::move(hops);
      longest = now;
    }
    const Forms some = forms_of(graph, "ring", ring.traffic(), ring_protocols(graph));
    forms.insert(forms.end(), some.begin(), some.end());
  }
  return forms;
}

} // namespace clustersim
