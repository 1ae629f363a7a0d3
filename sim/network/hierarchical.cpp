// Hierarchical: reduce-scatter inside the node, ring across nodes on every rail, all-gather inside.
//
//   inside  2(g−1)/g bytes per payload byte and rank, 2(g−1) steps
//   across  2(N−1)/N / g                            , 2(N−1) steps       (half for gather or
//   scatter)
//
// NCCL has no such algorithm: frameworks build it from groups of their own, so it is used on
// request and not by the automatic choice (docs/explanation/collectives.md).

#include "network/algorithms.hpp"
#include "network/traffic.hpp"

namespace clustersim {

Forms hierarchical_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                         GroupFamily family) {
  const bool twice = kind == CollectiveKind::all_reduce;
  if (!twice && kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter) {
    return {};
  }
  const GroupRange groups(graph, family);
  const std::vector<RankId> first = groups.members(0);
  const std::vector<NodeSegment> shape = node_segments(graph, first);
  const auto g = static_cast<double>(shape.front().size());
  const auto nodes = static_cast<double>(shape.size());
  if (shape.size() < 2 || shape.front().size() < 2) return {};
  const double phases = twice ? 2.0 : 1.0;
  Forms forms;
  for (const RingOrder order : ring_orders(graph, first)) {
    Traffic traffic(graph);
    traffic.local = 1.0 / family.size;
    traffic.most_in_node = most_in_node(graph, groups);
    for (std::size_t i = 0; i < groups.count(); ++i) {
      const std::vector<RankId> members = groups.members(i);
      const std::vector<NodeSegment> segments = node_segments(graph, members);
      if (!even(segments)) return {};
      for (std::size_t k = 0; k < segments.size(); ++k) {
        add_ring(traffic, graph, router, members, segments[k], phases * (g - 1) / g, order);
        const NodeSegment next = segments[(k + 1) % segments.size()];
        for (std::size_t local = 0; local < segments[k].size(); ++local) {
          add_flow(traffic, router, members[segments[k].begin + local], members[next.begin + local],
                   phases * (nodes - 1) / nodes / g);
        }
      }
    }
    traffic.serial.push_back({first[0], first[1], phases * (g - 1), phases * (g - 1)});
    traffic.serial.push_back(
        {first[0], first[shape[1].begin], phases * (nodes - 1), phases * (nodes - 1)});
    const Forms some = forms_of(graph, router, "hierarchical", traffic, ring_protocols(graph));
    forms.insert(forms.end(), some.begin(), some.end());
  }
  return forms;
}

} // namespace clustersim
