// Direct: every rank sends to its peers at once (all-to-all, S/n to each), or to the next rank
// alone (send_recv: nccl-tests' shift, the last rank sends to the first).
//
// The time is that of the busiest port plus a per-peer cost of issuing messages.

#include "network/algorithms.hpp"
#include "network/exchange.hpp"

namespace clustersim {

Forms direct_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                   GroupFamily family) {
  const bool all = kind == CollectiveKind::all_to_all;
  if ((!all && kind != CollectiveKind::send_recv) || family.size < 2) return {};
  const Layout layout(graph, router, family);
  Traffic traffic(graph, router, layout);
  traffic.local = all ? 1.0 / family.size : 0.0;
  Exchange exchange(graph, traffic, layout, Peers::all);
  Shift shift(traffic, layout);
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    if (all) {
      exchange.add(layout.group(i), 1.0 / family.size);
    } else {
      shift.add(layout.group(i), 1.0);
    }
  }
  const Segment &first = layout.group(0).front(), &last = layout.group(0).back();
  traffic.serial.push_back({router.rank(first.node, layout.places(first).front()),
                            router.rank(last.node, layout.places(last).back()),
                            all ? family.size - 1.0 : 1.0, 1.0});
  return forms_of(graph, "direct", traffic, direct_protocols());
}

} // namespace clustersim
