#include "network/node_rings.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace clustersim {

LinkMatrix own_links(const LinkGraph& graph, const Router& router, NodeNumber node,
                     const Places& places) {
  const std::size_t size = places.size();
  const auto chip = [&](std::size_t i) { return graph.chips()[router.rank(node, places[i]).at()]; };
  std::map<VertexId, std::size_t> member;
  for (std::size_t i = 0; i < size; ++i)
    member.emplace(chip(i), i);
  std::vector<std::vector<double>> rates(size, std::vector<double>(size, 0.0));
  double thinnest = 0.0;
  for (std::size_t a = 0; a < size; ++a) {
    for (const EdgeId e : graph.out_edges(chip(a))) {
      const Edge edge = graph.edge(e);
      const auto to = member.find(edge.to);
      if (to == member.end()) continue;
      double& rate = rates[a][to->second];
      rate += edge.capacity.si();
      if (thinnest <= 0.0 || rate < thinnest) thinnest = rate;
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

std::vector<Segment> sorts_of(const LinkGraph& graph, std::span<const Segment> group) {
  std::vector<Segment> sorts;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known;
  for (const Segment& segment : group) {
    if (known.insert({kind_of_node(graph, segment.node), segment.places}).second)
      sorts.push_back(segment);
  }
  return sorts;
}

namespace {

/// Beside that in rank order.
std::optional<RingOrder> better_order(const LinkMatrix& links) {
  std::size_t direct = 0;
  bool alike = true;
  for (std::size_t b = 1; b < links.size(); ++b) {
    direct += links[0][b] > 0 ? 1 : 0;
    for (std::size_t a = 0; a < b; ++a)
      alike = alike && links[a][b] == links[0][1];
  }
  if (direct == 0) return std::nullopt;
  if (!alike) return RingOrder::packed;
  return direct < 2 ? std::nullopt : std::optional(RingOrder::spread);
}

} // namespace

std::vector<RingOrder> ring_orders(const LinkGraph& graph, const Router& router,
                                   const Layout& layout, std::span<const Segment> group) {
  std::vector<RingOrder> orders{RingOrder::by_rank};
  for (const Segment& segment : sorts_of(graph, group)) {
    const std::size_t size = layout.size(segment);
    if (size < 2 || size > most_ring_members) continue;
    const auto order = better_order(own_links(graph, router, segment.node, layout.places(segment)));
    if (order && std::find(orders.begin(), orders.end(), *order) == orders.end())
      orders.push_back(*order);
  }
  return orders;
}

NodeRings::Key NodeRings::key_of(const Segment& segment) const {
  return {kind_of_node(*graph_, segment.node), segment.places};
}

const std::vector<Cycle>& NodeRings::cycles(const Segment& segment) {
  const auto [found, fresh] = cycles_.try_emplace(key_of(segment));
  if (fresh && layout_->size(segment) <= most_ring_members) {
    found->second =
        pack_cycles(own_links(*graph_, traffic_->router(), segment.node, layout_->places(segment)));
  }
  return found->second;
}

const Places& NodeRings::order_of(const Segment& segment) {
  const auto [found, fresh] = orders_.try_emplace(key_of(segment), layout_->places(segment));
  if (!fresh || order_ != RingOrder::packed || cycles(segment).empty()) return found->second;
  const Cycle& first = cycles(segment).front();
  for (std::size_t i = 0; i < first.size(); ++i)
    found->second[i] = layout_->places(segment)[first[i]];
  return found->second;
}

std::vector<PlaceFlow> NodeRings::flows(const Segment& segment, double bytes) {
  const Places& places = layout_->places(segment);
  const std::size_t size = places.size();
  std::vector<PlaceFlow> flows;
  if (order_ == RingOrder::packed && !cycles(segment).empty()) {
    const std::vector<Cycle>& rings = cycles(segment);
    const double share = 0.5 * bytes / static_cast<double>(rings.size()); // both ways around each
    for (const Cycle& ring : rings) {
      for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t a = places[ring[i]], b = places[ring[(i + 1) % size]];
        flows.push_back({a, b, share});
        flows.push_back({b, a, share});
      }
    }
    return flows;
  }
  const std::size_t reach = order_ == RingOrder::spread ? size - 1 : 1;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 1; k <= reach; ++k) {
      flows.push_back({places[i], places[(i + k) % size], bytes / static_cast<double>(reach)});
    }
  }
  return flows;
}

void NodeRings::add(const Segment& segment, double bytes) {
  if (layout_->size(segment) < 2) return;
  const auto [found, fresh] = bundles_.try_emplace({key_of(segment), bytes});
  if (fresh) found->second = traffic_->bundle(flows(segment, bytes));
  traffic_->move(segment.node, segment.node, found->second);
}

} // namespace clustersim
