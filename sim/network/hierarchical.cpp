// Hierarchical: reduce-scatter inside the node, ring across nodes on every rail, all-gather inside.
//
//   inside  2(g−1)/g bytes per payload byte and rank, 2(g−1) steps
//   across  2(N−1)/N / g                            , 2(N−1) steps       (half for gather or
//   scatter)
//
// All-to-all in two stages: inside, each member is handed what goes to its place in all nodes,
// (g−1)/g of the buffer; then it exchanges with those places, (N−1)/N. A rank sends (g−1) + (N−1)
// messages in place of n−1, and none leaves its rail.
//
// NCCL has no such algorithm: frameworks build it from groups of their own, so it is used on
// request and not by the automatic choice (docs/explanation/collectives.md).

#include "network/algorithms.hpp"
#include "network/exchange.hpp"
#include "network/node_rings.hpp"

#include <map>

namespace clustersim {

namespace {

using Group = std::span<const Segment>;

/// Both members of each rail between two nodes.
class Rails {
public:
  Rails(Traffic& traffic, const Layout& layout) : traffic_(traffic), layout_(layout) {}
  void add_ring(Group group, double bytes) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const Segment &here = group[k], &next = group[(k + 1) % group.size()];
      const auto [found, fresh] = bundles_.try_emplace({here.places, next.places});
      if (fresh) {
        found->second =
            traffic_.bundle(place_by_place(layout_.places(here), layout_.places(next), bytes));
      }
      traffic_.move(here.node, next.node, found->second);
    }
  }

private:
  Traffic& traffic_;
  const Layout& layout_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BundleId> bundles_;
};

void add_steps(Traffic& traffic, const Layout& layout, double inside, double across) {
  const Group group = layout.group(0);
  const Places& places = layout.places(group[0]);
  const Router& router = traffic.router();
  const RankId first = router.rank(group[0].node, places[0]);
  if (inside > 0.0) {
    traffic.serial.push_back({first, router.rank(group[0].node, places[1]), inside, inside});
  }
  if (across > 0.0) {
    const RankId next = router.rank(group[1].node, layout.places(group[1])[0]);
    traffic.serial.push_back({first, next, across, across});
  }
}

Forms exchange_forms(const LinkGraph& graph, Router& router, const Layout& layout,
                     GroupFamily family) {
  const auto g = static_cast<double>(layout.size(layout.group(0).front()));
  const auto nodes = static_cast<double>(layout.group(0).size());
  Traffic inside(graph, router, layout), across(graph, router, layout);
  inside.local = 1.0 / family.size;
  Exchange handed(graph, inside, layout, Peers::all), swapped(graph, across, layout, Peers::rail);
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    if (!layout.even(layout.group(i))) return {};
    for (const Segment& segment : layout.group(i))
      handed.add(std::span(&segment, 1), 1.0 / g);
    swapped.add(layout.group(i), 1.0 / nodes);
  }
  add_steps(inside, layout, g - 1, 0.0);
  add_steps(across, layout, 0.0, nodes - 1);
  across.serial.back().traversals = 1.0;
  inside.serial.back().traversals = 1.0;
  std::vector<Traffic> stages;
  stages.push_back(std::move(inside));
  stages.push_back(std::move(across));
  return forms_of(graph, "hierarchical", stages, direct_protocols());
}

} // namespace

Forms hierarchical_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                         GroupFamily family) {
  const double phases = phases_of(kind);
  const bool exchange = kind == CollectiveKind::all_to_all;
  if (!exchange && phases <= 0.0) return {};
  const Layout layout(graph, router, family);
  const Segment& front = layout.group(0).front();
  const auto g = static_cast<double>(layout.size(front));
  const auto nodes = static_cast<double>(layout.group(0).size());
  if (nodes < 2 || g < 2) return {};
  if (exchange) return exchange_forms(graph, router, layout, family);
  Forms forms;
  for (const RingOrder order : ring_orders(graph, router, layout, layout.group(0))) {
    Traffic traffic(graph, router, layout);
    traffic.local = 1.0 / family.size;
    NodeRings rings(graph, traffic, layout, order);
    Rails rails(traffic, layout);
    for (std::size_t i = 0; i < layout.groups(); ++i) {
      const Group group = layout.group(i);
      if (!layout.even(group)) return {};
      for (const Segment& segment : group)
        rings.add(segment, phases * (g - 1) / g);
      rails.add_ring(group, phases * (nodes - 1) / nodes / g);
    }
    add_steps(traffic, layout, phases * (g - 1), phases * (nodes - 1));
    const Forms some = forms_of(graph, "hierarchical", traffic, ring_protocols(graph));
    forms.insert(forms.end(), some.begin(), some.end());
  }
  return forms;
}

} // namespace clustersim
