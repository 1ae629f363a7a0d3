#include "network/traffic.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

GroupRange::GroupRange(const LinkGraph& graph, GroupFamily family) : family_(family) {
  const auto size = static_cast<std::size_t>(std::max(family.size, 0));
  const auto stride = static_cast<std::size_t>(std::max(family.stride, 0));
  block_ = family.block > 0 ? static_cast<std::size_t>(family.block) : size;
  extent_ = block_ * stride;
  const bool one = family.block == 0;
  block_stride_ = one ? extent_ : static_cast<std::size_t>(std::max(family.block_stride, 0));
  const std::size_t tiles = extent_ == 0 ? 0 : block_stride_ / extent_;
  if (tiles == 0 || size % block_ != 0) {
    throw Bug(fmt::format("group of {} ranks, stride {}, blocks of {} every {}", family.size,
                          family.stride, family.block, family.block_stride));
  }
  span_ = size / block_ * block_stride_;
  per_span_ = tiles * stride;
  first_ = static_cast<std::size_t>(std::max(family.first, 0));
  const std::size_t chips = graph.chips().size();
  const std::size_t world =
      std::min(chips - std::min(first_, chips),
               family.ranks > 0 ? static_cast<std::size_t>(family.ranks) : graph.chips().size());
  count_ = world / span_ * per_span_;
  if (count_ == 0) {
    throw Bug(fmt::format("group of {} ranks over {} chips, of {}", size, span_, world));
  }
  if (family.groups > 0) count_ = std::min(count_, static_cast<std::size_t>(family.groups));
}

std::vector<RankId> GroupRange::members(std::size_t group) const {
  const auto size = static_cast<std::size_t>(family_.size);
  const auto stride = static_cast<std::size_t>(family_.stride);
  const std::size_t sister = group % per_span_;
  const std::size_t base =
      first_ + group / per_span_ * span_ + sister / stride * extent_ + sister % stride;
  std::vector<RankId> ranks;
  ranks.reserve(size);
  for (std::size_t i = 0; i < size; ++i)
    ranks.emplace_back(base + i / block_ * block_stride_ + i % block_ * stride);
  return ranks;
}

int most_in_node(const LinkGraph& graph, const GroupRange& groups) {
  std::vector<int> held(std::max<std::size_t>(graph.nodes().size(), 1), 0);
  int most = 0;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    for (const RankId rank : groups.members(i)) {
      most = std::max(most, ++held[static_cast<std::size_t>(std::max(0, graph.node_of(rank)))]);
    }
  }
  return most;
}

std::vector<NodeSegment> node_segments(const LinkGraph& graph, const std::vector<RankId>& members) {
  std::vector<NodeSegment> segments;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool same = i > 0 && graph.node_of(members[i]) == graph.node_of(members[i - 1]);
    if (!same) segments.push_back({i, i});
    segments.back().end = i + 1;
  }
  return segments;
}

bool even(const std::vector<NodeSegment>& segments) {
  return std::all_of(segments.begin(), segments.end(),
                     [&](const NodeSegment& s) { return s.size() == segments.front().size(); });
}

void add_flow(Traffic& traffic, Router& router, RankId from, RankId to, double bytes) {
  if (from == to) return;
  const RoutePattern& pattern = router.pattern(from, to);
  router.for_each_edge(pattern, from, to, [&](EdgeId edge, double share) {
    traffic.load.add(pattern.transport, edge, bytes * share, pattern.through_root);
  });
}

LinkMatrix own_links(const LinkGraph& graph, const std::vector<RankId>& members,
                     NodeSegment segment) {
  const std::size_t size = segment.size();
  std::vector<std::vector<double>> rates(size, std::vector<double>(size, 0.0));
  double thinnest = 0.0;
  for (std::size_t a = 0; a < size; ++a) {
    const VertexId from = graph.chips()[members[segment.begin + a].at()];
    for (const EdgeId e : graph.out_edges(from)) {
      for (std::size_t b = 0; b < size; ++b) {
        const Edge& edge = graph.edges()[e.at()];
        if (edge.to != graph.chips()[members[segment.begin + b].at()]) continue;
        rates[a][b] += edge.capacity.si();
        if (thinnest <= 0.0 || rates[a][b] < thinnest) thinnest = rates[a][b];
      }
    }
  }
  LinkMatrix links(size, std::vector<int>(size, 0));
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size && thinnest > 0.0; ++b) {
      links[a][b] =
          static_cast<int>(std::min(64.0, std::min(rates[a][b], rates[b][a]) / thinnest + 0.01));
    }
  }
  return links;
}

const std::vector<Cycle>& cycles_of(Traffic& traffic, const LinkGraph& graph,
                                    const std::vector<RankId>& members, NodeSegment segment) {
  std::vector<std::uint32_t> key;
  const int node = graph.node_of(members[segment.begin]);
  if (node >= 0 && segment.size() <= most_ring_members) {
    const NodeBlock& block = graph.nodes()[static_cast<std::size_t>(node)];
    key.push_back(block.shape.value);
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      key.push_back(static_cast<std::uint32_t>(members[i].at() - block.first_chip.at()));
    }
  }
  const auto known = traffic.cycles.find(key);
  if (known != traffic.cycles.end()) return known->second;
  std::vector<Cycle> found;
  if (!key.empty()) found = pack_cycles(own_links(graph, members, segment));
  return traffic.cycles.emplace(std::move(key), std::move(found)).first->second;
}

void add_ring(Traffic& traffic, const LinkGraph& graph, Router& router,
              const std::vector<RankId>& members, NodeSegment segment, double bytes,
              RingOrder order) {
  const std::size_t size = segment.size();
  if (size < 2) return;
  const auto send = [&](std::size_t from, std::size_t to, double share) {
    add_flow(traffic, router, members[segment.begin + from], members[segment.begin + to],
             bytes * share);
  };
  if (order == RingOrder::packed) {
    const std::vector<Cycle>& cycles = cycles_of(traffic, graph, members, segment);
    const double share = 0.5 / static_cast<double>(cycles.size()); // both ways around each
    for (const Cycle& cycle : cycles) {
      for (std::size_t i = 0; i < size; ++i) {
        send(cycle[i], cycle[(i + 1) % size], share);
        send(cycle[(i + 1) % size], cycle[i], share);
      }
    }
    if (!cycles.empty()) return;
    order = RingOrder::by_rank;
  }
  const std::size_t reach = order == RingOrder::by_rank ? 1 : size - 1;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 1; k <= reach; ++k) {
      send(i, (i + k) % size, 1.0 / static_cast<double>(reach));
    }
  }
}

std::vector<RingOrder> ring_orders(const LinkGraph& graph, const std::vector<RankId>& members) {
  const NodeSegment segment = node_segments(graph, members).front();
  if (segment.size() < 2 || segment.size() > most_ring_members) return {RingOrder::by_rank};
  const LinkMatrix links = own_links(graph, members, segment);
  std::size_t direct = 0;
  bool alike = true;
  for (std::size_t b = 1; b < links.size(); ++b) {
    direct += links[0][b] > 0 ? 1 : 0;
    for (std::size_t a = 0; a < b; ++a)
      alike = alike && links[a][b] == links[0][1];
  }
  if (direct == 0) return {RingOrder::by_rank};
  if (!alike) return {RingOrder::by_rank, RingOrder::packed};
  if (direct < 2) return {RingOrder::by_rank};
  return {RingOrder::by_rank, RingOrder::spread};
}

std::vector<ProtocolChoice> ring_protocols(const LinkGraph& graph, bool tree) {
  std::vector<ProtocolChoice> choices;
  for (const Link& link : graph.link_classes()) {
    for (const Protocol& protocol : link.protocols) {
      const std::string& name = protocol.name;
      if (name.rfind("in-switch", 0) == 0 || name.rfind("direct", 0) == 0) continue;
      const bool known = std::any_of(choices.begin(), choices.end(),
                                     [&](const ProtocolChoice& c) { return c.name == name; });
      if (!known) choices.push_back({name, "bulk", tree});
    }
  }
  if (choices.empty()) choices.push_back({"bulk", "bulk", tree});
  return choices;
}

} // namespace clustersim
