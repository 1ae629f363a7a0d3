#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv_writer.hpp"
#include "report/topology.hpp"
#include "report/topology_words.hpp"

#include <fmt/format.h>

namespace clustersim {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string span_of(std::string low, std::string high) {
  return low == high ? low : low + " - " + high;
}

std::string rates(BytesPerSecond slowest, BytesPerSecond fastest) {
  return span_of(format_quantity(slowest, 3), format_quantity(fastest, 3));
}

std::string counts_line(const TopologyAnswer& answer) {
  std::string text;
  for (std::size_t kind = 0; kind < vertex_kinds; ++kind) {
    const std::int64_t count = answer.survey.vertices[kind];
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(count),
                        plural(name_of(static_cast<VertexKind>(kind)), count));
  }
  return text + fmt::format("; {} directed edges", grouped(answer.survey.edges));
}

std::string partition_line(const Partition& partition) {
  const Node& node = partition.node;
  std::string text = counted(node.chips, "chip") + " a node";
  const bool peers = node.chips > 1;
  if (peers && node.host.pcie.bandwidth.si() > 0.0) {
    text += node.host.peer_to_peer ? ", PCIe peer to peer" : ", PCIe through host memory";
  }
  if (node.nics.count == 0) return text + ", no network cards";
  return text + fmt::format(", {} ({} a chip, {} GPUDirect)", counted(node.nics.count, "card"),
                            shortest(static_cast<double>(node.nics.count) / node.chips),
                            node.nics.gpu_direct ? "with" : "without");
}

std::string tiers_table(const TopologyAnswer& answer, TextStyle style) {
  Rows rows;
  const std::vector<double> busiest = busiest_shares(answer);
  for (std::size_t t = 0; t < answer.survey.tiers.size(); ++t) {
    const LinkTier& tier = answer.survey.tiers[t];
    rows.push_back({printable(answer.graph.link_classes()[tier.link_class.at()].name),
                    fmt::format("{} - {}", name_of(tier.a), name_of(tier.b)), grouped(tier.links),
                    rates(tier.slowest, tier.fastest), format_quantity(tier.total, 3),
                    format_quantity(tier.latency, 3)});
    if (!busiest.empty()) rows.back().push_back(busiest[t] > 0.0 ? percent(busiest[t]) : "-");
  }
  std::vector<Column> columns{{"link"},
                              {"between"},
                              {"links", Align::right},
                              {"each", Align::right},
                              {"together", Align::right},
                              {"latency", Align::right}};
  if (!busiest.empty()) columns.push_back({"load", Align::right});
  return table(columns, rows, style);
}

std::string switches_table(const TopologyAnswer& answer, TextStyle style) {
  Rows rows;
  for (const SwitchTier& tier : answer.survey.switches) {
    const bool top = tier.up.si() <= 0.0;
    rows.push_back({tier.name, grouped(tier.switches), format_quantity(tier.down, 3),
                    top ? "-" : format_quantity(tier.up, 3),
                    top ? "-" : ratio_text(tier.oversubscription())});
  }
  if (rows.empty()) return "";
  return "\n" + table({{"switches"},
                       {"count", Align::right},
                       {"down each", Align::right},
                       {"up each", Align::right},
                       {"down : up", Align::right}},
                      rows, style);
}

std::string reaches_table(const TopologyAnswer& answer, TextStyle style) {
  Rows rows;
  for (const Reach& reach : answer.survey.reaches) {
    rows.push_back({std::string{name_of(reach.medium)}, grouped(reach.peers),
                    rates(reach.slowest, reach.fastest),
                    span_of(std::to_string(reach.fewest_hops), std::to_string(reach.most_hops)),
                    span_of(format_quantity(reach.shortest, 3), format_quantity(reach.longest, 3)),
                    printable(answer.graph.link_classes()[reach.link_class.at()].name)});
  }
  if (rows.empty()) return "";
  return "\n" + table({{"chip 0 reaches by"},
                       {"chips", Align::right},
                       {"rate", Align::right},
                       {"hops", Align::right},
                       {"latency", Align::right},
                       {"bound by"}},
                      rows, style);
}

std::string whole_lines(const TopologyAnswer& answer) {
  const Survey& survey = answer.survey;
  if (survey.reaches.empty()) return "";
  std::string out =
      "\n" + hanging("  diameter   ", fmt::format("{}, {}", counted(survey.diameter, "hop"),
                                                  format_quantity(survey.diameter_latency, 3)));
  const Bisection& cut = survey.bisection;
  const double half = static_cast<double>(std::max<std::size_t>(cut.half, 1));
  out += hanging("  bisection  ",
                 fmt::format("{} one way, {} a chip: {}", format_quantity(cut.rate, 3),
                             format_quantity(cut.rate / half, 3), cut.description));
  for (const Partition& partition : answer.machine.cluster.partitions) {
    if (partition.nodes > 1) out += hanging("  fabric     ", fabric_sentence(partition));
  }
  return out;
}

} // namespace

std::string render_topology_text(const TopologyAnswer& answer, TextStyle style) {
  const Cluster& cluster = answer.machine.cluster;
  std::string out = paint(Ink::bold, hanging("", printable(describe(cluster))), style);
  for (const Partition& partition : cluster.partitions)
    out += hanging("  ", partition_line(partition));
  out += hanging("  ", counts_line(answer)) + "\n";
  out += tiers_table(answer, style) + switches_table(answer, style) + reaches_table(answer, style);
  out += whole_lines(answer);
  if (answer.loads) {
    out += hanging("  collective ", printable(load_sentence(answer)));
  }
  for (const std::string& assumption : answer.machine.assumptions)
    out += paint(Ink::dim, hanging("  ", printable(assumption)), style);
  return out;
}

std::string render_topology_csv(const TopologyAnswer& answer) {
  std::string out = "link,between,links,slowest_gbs,fastest_gbs,together_gbs,latency_us,load\n";
  const std::vector<double> busiest = busiest_shares(answer);
  for (std::size_t t = 0; t < answer.survey.tiers.size(); ++t) {
    const LinkTier& tier = answer.survey.tiers[t];
    out +=
        csv_line({answer.graph.link_classes()[tier.link_class.at()].id,
                  fmt::format("{} - {}", name_of(tier.a), name_of(tier.b)),
                  std::to_string(tier.links), shortest(tier.slowest.si() / 1e9),
                  shortest(tier.fastest.si() / 1e9), shortest(tier.total.si() / 1e9),
                  shortest(tier.latency.si() * 1e6), busiest.empty() ? "" : shortest(busiest[t])});
  }
  return out;
}

} // namespace clustersim
