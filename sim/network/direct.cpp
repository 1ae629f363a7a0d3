// Direct: every rank sends to its peers at once (all-to-all, S/n to each), or to the next rank
// alone (send_recv: nccl-tests' shift, the last rank sends to the first).
//
// The time is that of the busiest port plus a per-peer cost of issuing messages.

#include "network/algorithms.hpp"
#include "network/traffic.hpp"

namespace clustersim {

namespace {

void add_peers(Traffic& traffic, Router& router, const std::vector<RankId>& members,
               std::size_t reach, double bytes) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t k = 1; k <= reach; ++k) {
      add_flow(traffic, router, members[i], members[(i + k) % members.size()], bytes);
    }
  }
}

} // namespace

Forms direct_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                   GroupFamily family) {
  const bool all = kind == CollectiveKind::all_to_all;
  if ((!all && kind != CollectiveKind::send_recv) || family.size < 2) return {};
  const GroupRange groups(graph, family);
  const auto n = static_cast<std::size_t>(family.size);
  const std::size_t reach = all ? n - 1 : 1;
  Traffic traffic(graph);
  traffic.local = all ? 1.0 / family.size : 0.0;
  traffic.most_in_node = most_in_node(graph, groups);
  for (std::size_t i = 0; i < groups.count(); ++i) {
    add_peers(traffic, router, groups.members(i), reach, all ? 1.0 / family.size : 1.0);
  }
  const std::vector<RankId> first = groups.members(0);
  traffic.serial.push_back({first.front(), first.back(), static_cast<double>(reach), 1.0});
  return forms_of(graph, router, "direct", traffic,
                  {{"direct-low-latency", "low-latency"}, {"direct", "bulk"}});
}

} // namespace clustersim
