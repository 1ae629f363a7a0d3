#include "study/collective_sweep.hpp"

#include "network/concurrent.hpp"

#include <cmath>
#include <fmt/format.h>

namespace clustersim {
namespace {

CollectiveRow row_of(const std::vector<CollectiveForm>& forms, const LinkGraph& graph,
                     CollectiveKind kind, int ranks, Bytes size) {
  const CollectiveTime best = fastest(forms, size, graph);
  CollectiveRow row;
  row.bytes = size;
  row.time = best.time;
  row.latency = best.latency;
  row.algorithm_bandwidth = size / best.time;
  row.bus_bandwidth = bus_bandwidth(kind, ranks, size, best.time);
  row.algorithm = best.form->algorithm;
  row.protocol = best.form->protocol;
  if (best.binding) row.binding_edge = graph.edge_name(*best.binding);
  row.fastest_group = row.time;
  return row;
}

/// A group's time when its bytes take so long.
Seconds time_with(const CollectiveTime& alone, Seconds steady) {
  const double fill = alone.form->fill.si();
  return alone.time + (steady - alone.steady) +
         Seconds{std::sqrt(fill * steady.si()) - std::sqrt(fill * alone.steady.si())};
}

/// Groups that do not lie alike end one after another.
void share_links(CollectiveRow& row, const CollectiveTime& together, const LinkGraph& graph,
                 ConcurrentGroups& groups, CollectiveKind kind, int ranks) {
  const auto shared = groups.transfer(*together.form, row.bytes);
  if (!shared) return;
  row.time = time_with(together, shared->slowest);
  row.fastest_group = time_with(together, shared->fastest);
  row.algorithm_bandwidth = row.bytes / row.time;
  row.bus_bandwidth = bus_bandwidth(kind, ranks, row.bytes, row.time);
  if (shared->edge) row.binding_edge = graph.edge_name(*shared->edge);
  row.sharing = shared->groups;
}

} // namespace

std::optional<GroupFamily> family_of(const Cluster& cluster, int ranks, int concurrent,
                                     std::string& why) {
  const int chips = cluster.chips();
  int nodes = 0;
  bool alike = true;
  for (const Partition& partition : cluster.partitions) {
    nodes += partition.nodes;
    alike = alike && partition.node.chips == cluster.partitions.front().node.chips;
  }
  const int size = ranks == 0 ? chips : ranks;
  if (chips < 2) {
    why = "a collective takes 2 ranks or more, and this machine has one chip; add nodes";
    return std::nullopt;
  }
  if (size < 2 || size > chips) {
    why = fmt::format("{} ranks on {} chips: a collective takes 2 to {}", size, chips, chips);
    return std::nullopt;
  }
  if (!alike) {
    if (size == chips && concurrent == 1) return GroupFamily{size, 1, 1, 0, 0};
    why = fmt::format("some of the ranks, and nodes of unlike numbers of chips: only all {} ranks "
                      "together",
                      chips);
    return std::nullopt;
  }
  if (size % nodes != 0) {
    why = fmt::format("{} ranks cannot be dealt evenly to {} nodes", size, nodes);
    return std::nullopt;
  }
  const int per_node = size / nodes, held = chips / nodes;
  if (concurrent < 1 || concurrent > held / per_node) {
    why = fmt::format("{} groups of {} ranks in each node of {} chips: at most {} at once",
                      concurrent, per_node, held, held / per_node);
    return std::nullopt;
  }
  return GroupFamily{size, 1, concurrent, per_node, held};
}

std::optional<CollectiveSweep>
sweep_collective(const Cluster& cluster, const CollectiveQuestion& question, std::string& why) {
  const auto family = family_of(cluster, question.ranks, question.concurrent, why);
  if (!family) return std::nullopt;
  const LinkGraph graph = build_link_graph(cluster);
  Router router(graph);
  const std::vector<CollectiveForm> forms =
      collective_forms(graph, router, question.kind, *family, question.algorithm);
  if (forms.empty()) {
    why = fmt::format("the algorithm '{}' does not apply to {} over these {} ranks",
                      question.algorithm, name_of(question.kind), family->size);
    return std::nullopt;
  }
  CollectiveSweep sweep{question.kind, cluster, family->size, question.concurrent, {}, {}};
  ConcurrentGroups groups(graph, router, question.kind, *family);
  for (const Bytes size : question.sizes) {
    sweep.rows.push_back(row_of(forms, graph, question.kind, family->size, size));
    if (question.concurrent == 1) continue;
    share_links(sweep.rows.back(), fastest(forms, size, graph), graph, groups, question.kind,
                family->size);
  }
  return sweep;
}

} // namespace clustersim
