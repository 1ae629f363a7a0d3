#include "report/json_writer.hpp"
#include "report/topology.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double micro = 1e-6, giga = 1e9;

Json partitions_json(const Cluster& cluster) {
  Json out = Json::array();
  for (const Partition& partition : cluster.partitions) {
    const Node& node = partition.node;
    Json entry{{"node", node.id}, {"nodes", partition.nodes}, {"chips_per_node", node.chips}};
    entry["nics_per_node"] = node.nics.count;
    entry["nics_per_chip"] = static_cast<double>(node.nics.count) / node.chips;
    entry["gpu_direct"] = node.nics.gpu_direct;
    entry["peer_to_peer"] = node.host.peer_to_peer;
    entry["fabric"] = partition.nodes > 1 ? partition.fabric.id : "none";
    entry["oversubscription"] =
        partition.nodes > 1 ? Json(partition.fabric.oversubscription) : Json();
    out.push_back(std::move(entry));
  }
  return out;
}

Json tiers_json(const TopologyAnswer& answer) {
  const std::vector<double> busiest = busiest_shares(answer);
  Json out = Json::array();
  for (std::size_t t = 0; t < answer.survey.tiers.size(); ++t) {
    const LinkTier& tier = answer.survey.tiers[t];
    Json entry{{"link", answer.graph.link_classes()[tier.link_class.at()].id},
               {"between", {name_of(tier.a), name_of(tier.b)}},
               {"links", tier.links}};
    entry["slowest_gbs"] = tier.slowest.si() / giga;
    entry["fastest_gbs"] = tier.fastest.si() / giga;
    entry["together_gbs"] = tier.total.si() / giga;
    entry["latency_us"] = tier.latency.si() / micro;
    if (!busiest.empty()) entry["load"] = busiest[t];
    out.push_back(std::move(entry));
  }
  return out;
}

Json switches_json(const Survey& survey) {
  Json out = Json::array();
  for (const SwitchTier& tier : survey.switches) {
    const bool top = tier.up.si() <= 0.0;
    out.push_back({{"tier", tier.name},
                   {"switches", tier.switches},
                   {"down_gbs", tier.down.si() / giga},
                   {"up_gbs", tier.up.si() / giga},
                   {"oversubscription", top ? Json() : Json(tier.oversubscription())}});
  }
  return out;
}

Json reaches_json(const TopologyAnswer& answer) {
  Json out = Json::array();
  for (const Reach& reach : answer.survey.reaches) {
    out.push_back({{"by", name_of(reach.medium)},
                   {"bound_by", answer.graph.link_classes()[reach.link_class.at()].id},
                   {"chips", reach.peers},
                   {"slowest_gbs", reach.slowest.si() / giga},
                   {"fastest_gbs", reach.fastest.si() / giga},
                   {"fewest_hops", reach.fewest_hops},
                   {"most_hops", reach.most_hops},
                   {"shortest_us", reach.shortest.si() / micro},
                   {"longest_us", reach.longest.si() / micro}});
  }
  return out;
}

Json loads_json(const TopologyAnswer& answer) {
  const LinkLoads& loads = *answer.loads;
  Json out{{"collective", name_of(loads.kind)}, {"bytes", loads.size.si()}, {"ranks", loads.ranks}};
  out["algorithm"] = loads.algorithm;
  out["time_us"] = loads.time.si() / micro;
  out["busbw_gbs"] = loads.bus_bandwidth.si() / giga;
  out["binding_edge"] = loads.binding ? Json(answer.graph.edge_name(*loads.binding)) : Json();
  out["bound_by"] = loads.bound_by_latency ? "latency" : "bandwidth";
  return out;
}

} // namespace

std::string render_topology_json(const TopologyAnswer& answer, std::string_view version) {
  const Survey& survey = answer.survey;
  Json out{{"schema", "clustersim.topology/1"}, {"version", version}};
  out["partitions"] = partitions_json(answer.machine.cluster);
  out["assumptions"] = answer.machine.assumptions;
  Json& vertices = out["vertices"] = Json::object();
  for (std::size_t kind = 0; kind < vertex_kinds; ++kind)
    vertices[std::string{name_of(static_cast<VertexKind>(kind))}] = survey.vertices[kind];
  out["edges"] = survey.edges;
  out["tiers"] = tiers_json(answer);
  out["switches"] = switches_json(survey);
  out["reaches"] = reaches_json(answer);
  out["diameter"] = {{"hops", survey.diameter},
                     {"latency_us", survey.diameter_latency.si() / micro},
                     {"sources", survey.diameter_sources}};
  out["bisection"] = {{"gbs", survey.bisection.rate.si() / giga},
                      {"chips", survey.bisection.half},
                      {"cut", survey.bisection.description}};
  if (answer.loads) out["loads"] = loads_json(answer);
  return to_text(out);
}

} // namespace clustersim
