// Ring: every rank sends to the next one, as many rings side by side as a node has members.
//
//   all-reduce      2(n−1) steps, 2(n−1)/n bytes per payload byte and rank
//   all-gather, reduce-scatter, broadcast   n−1 steps, (n−1)/n (broadcast: 1)
//
// Across nodes ring r enters each node at member r and leaves it at member r−1, so that the rings
// share the node's NICs evenly.

#include "network/algorithms.hpp"
#include "network/traffic.hpp"

#include <algorithm>
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
    return {1.0, n - 1};
  case CollectiveKind::all_to_all:
  case CollectiveKind::send_recv:
    break;
  }
  return {};
}

void add_group(Traffic& traffic, const LinkGraph& graph, Router& router,
               const std::vector<RankId>& members, const std::vector<NodeSegment>& segments,
               double bytes, RingOrder order) {
  if (segments.size() == 1) {
    add_ring(traffic, graph, router, members, segments.front(), bytes, order);
    return;
  }
  if (!even(segments)) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      add_flow(traffic, router, members[i], members[(i + 1) % members.size()], bytes);
    }
    return;
  }
  const std::size_t g = segments.front().size();
  const double share = bytes / static_cast<double>(g);
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const bool last = k + 1 == segments.size();
    const NodeSegment here = segments[k], next = segments[last ? 0 : k + 1];
    add_ring(traffic, graph, router, members, here, share * static_cast<double>(g - 1), order);
    for (std::size_t r = 0; r < g; ++r) {
      const std::size_t exit = k % 2 == 0 ? (r + g - 1) % g : r;
      const std::size_t entry = last ? r : exit;
      add_flow(traffic, router, members[here.begin + exit], members[next.begin + entry], share);
    }
  }
}

/// One ring's own chain of steps: inside each node from rank to rank, across between the same
/// places.
std::vector<SerialHop> chain(const std::vector<RankId>& members,
                             const std::vector<NodeSegment>& segments, double steps) {
  std::vector<SerialHop> hops;
  const double each = steps / static_cast<double>(members.size());
  for (std::size_t k = 0; k < segments.size(); ++k) {
    for (std::size_t i = segments[k].begin; i + 1 < segments[k].end; ++i) {
      hops.push_back({members[i], members[i + 1], each, each});
    }
    const NodeSegment next = segments[(k + 1) % segments.size()];
    const RankId from = segments.size() == 1 ? members.back() : members[segments[k].begin];
    hops.push_back({from, members[next.begin], each, each});
  }
  return hops;
}

/// The members of each node in the order of its first packed ring, where there is one.
std::vector<RankId> in_ring_order(Traffic& traffic, const LinkGraph& graph,
                                  const std::vector<RankId>& members,
                                  const std::vector<NodeSegment>& segments, RingOrder order) {
  std::vector<RankId> ordered = members;
  if (order != RingOrder::packed) return ordered;
  for (const NodeSegment& segment : segments) {
    const std::vector<Cycle>& cycles = cycles_of(traffic, graph, members, segment);
    for (std::size_t i = 0; !cycles.empty() && i < segment.size(); ++i) {
      ordered[segment.begin + i] = members[segment.begin + cycles.front()[i]];
    }
  }
  return ordered;
}

double length(Router& router, const std::vector<SerialHop>& hops) {
  double total = 0.0;
  for (const SerialHop& hop : hops)
    total += router.pattern(hop.from, hop.to).latency.si();
  return total;
}

} // namespace

Forms ring_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family) {
  const RingShape shape = shape_of(kind, family.size);
  if (shape.steps <= 0.0) return {};
  const GroupRange groups(graph, family);
  Forms forms;
  for (const RingOrder order : ring_orders(graph, groups.members(0))) {
    Traffic traffic(graph);
    traffic.local = 1.0 / family.size;
    traffic.most_in_node = most_in_node(graph, groups);
    double longest = -1.0;
    for (std::size_t i = 0; i < groups.count(); ++i) {
      const std::vector<RankId> members = groups.members(i);
      const std::vector<NodeSegment> segments = node_segments(graph, members);
      add_group(traffic, graph, router, members, segments, shape.bytes, order);
      std::vector<SerialHop> hops =
          chain(in_ring_order(traffic, graph, members, segments, order), segments, shape.steps);
      const double now = length(router, hops);
      if (now > longest) traffic.serial = std::move(hops);
      longest = std::max(longest, now);
    }
    const Forms some = forms_of(graph, router, "ring", traffic, ring_protocols(graph));
    forms.insert(forms.end(), some.begin(), some.end());
  }
  return forms;
}

} // namespace clustersim
