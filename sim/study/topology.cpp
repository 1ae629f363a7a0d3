#include "study/topology.hpp"

#include "study/collective_sweep.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {
namespace {

std::optional<LinkLoads> loads_of(const Cluster& cluster, const LinkGraph& graph,
                                  const TopologyQuestion& question, std::string& why) {
  const auto family = family_of(cluster, question.ranks, 1, why);
  if (!family) return std::nullopt;
  Router router(graph);
  router.keep_loads();
  const CollectiveKind kind = *question.collective;
  const std::vector<CollectiveForm> forms =
      collective_forms(graph, router, kind, *family, question.algorithm);
  if (forms.empty()) {
    why = fmt::format("the algorithm '{}' does not apply to {} over these {} ranks",
                      question.algorithm, name_of(kind), family->size);
    return std::nullopt;
  }
  const CollectiveTime best = fastest(forms, question.size, graph);
  LinkLoads loads{kind, question.size, family->size, best.form->algorithm, best.time, {}, {}, {},
                  {}};
  loads.bus_bandwidth = bus_bandwidth(kind, family->size, question.size, best.time);
  loads.binding = best.binding;
  loads.bound_by_latency = 2.0 * best.latency > best.time;
  loads.shares.assign(graph.edges().size(), 0.0);
  for (const auto& [edge, bytes] : best.form->carried) {
    const BytesPerSecond rate = question.size * bytes / best.time;
    loads.shares[edge.at()] = rate / graph.edge(edge).capacity;
  }
  return loads;
}

} // namespace

std::optional<TopologyAnswer> answer_topology(const Machine& machine,
                                              const TopologyQuestion& question, std::string& why) {
  TopologyAnswer answer{machine, build_link_graph(machine.cluster), {}, std::nullopt};
  if (question.collective) {
    answer.loads = loads_of(machine.cluster, answer.graph, question, why);
    if (!answer.loads) return std::nullopt;
  }
  answer.survey = survey_of(answer.graph);
  return answer;
}

std::vector<double> busiest_shares(const TopologyAnswer& answer) {
  if (!answer.loads) return {};
  std::vector<double> busiest(answer.survey.tiers.size(), 0.0);
  for (std::size_t e = 0; e < answer.loads->shares.size(); ++e) {
    const double share = answer.loads->shares[e];
    if (share <= 0.0) continue;
    const Edge& edge = answer.graph.edges()[e];
    const VertexKind from = answer.graph.kind(edge.from);
    const VertexKind to = answer.graph.kind(edge.to);
    const VertexKind a = std::min(from, to), b = std::max(from, to);
    for (std::size_t t = 0; t < busiest.size(); ++t) {
      const LinkTier& tier = answer.survey.tiers[t];
      const bool same = tier.a == a && tier.b == b && tier.link_class == edge.link_class;
      if (same) busiest[t] = std::max(busiest[t], share);
    }
  }
  return busiest;
}

} // namespace clustersim
