#include "report/collective.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/csv_writer.hpp"
#include "report/json_writer.hpp"
#include "study/machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

constexpr double micro = 1e-6, giga = 1e9;

std::string size_text(Bytes size) {
  return size.si() < 1024.0 ? format_quantity(size) : format_binary(size);
}

std::string gigabytes(BytesPerSecond rate) {
  const double value = rate.si() / giga;
  return value < 0.1 ? fmt::format("{:.4f}", value) : fmt::format("{:.2f}", value);
}

std::string algorithm_text(const CollectiveRow& row, TextStyle style) {
  return style.detail == Detail::full ? row.algorithm + ", " + row.protocol : row.algorithm;
}

std::string bound_text(const CollectiveRow& row) {
  if (row.bound_by_latency()) return "latency";
  const std::string groups = row.sharing > 1 ? fmt::format(" ({} groups)", row.sharing) : "";
  return printable(row.binding_edge) + groups;
}

std::string title_of(const CollectiveSweep& sweep) {
  std::string groups;
  if (sweep.concurrent > 1) groups = fmt::format(", {} groups at once", sweep.concurrent);
  return fmt::format("{} over {} ranks{} on {}", name_of(sweep.kind),
                     grouped(std::int64_t{sweep.ranks}), groups,
                     printable(describe(sweep.cluster)));
}

} // namespace

std::string render_collective_text(const CollectiveSweep& sweep, TextStyle style) {
  std::vector<std::vector<std::string>> rows;
  for (const CollectiveRow& row : sweep.rows) {
    rows.push_back({size_text(row.bytes), format_quantity(row.time),
                    gigabytes(row.algorithm_bandwidth), gigabytes(row.bus_bandwidth),
                    algorithm_text(row, style), bound_text(row)});
  }
  std::string out = paint(Ink::bold, hanging("", title_of(sweep)), style);
  out += table({{"size", Align::right},
                {"time", Align::right},
                {"algbw", Align::right},
                {"busbw", Align::right},
                {"algorithm"},
                {"bound by"}},
               rows, style);
  out += "  algbw, busbw in GB/s as nccl-tests defines them\n";
  if (sweep.concurrent > 1)
    out += "  times of the slowest group; in brackets, how many share the edge\n";
  for (const std::string& assumption : sweep.assumptions) {
    out += paint(Ink::dim, hanging("  ", printable(assumption)), style);
  }
  return out;
}

namespace {

/// What joins the nodes of a partition: one node of one partition needs nothing.
std::string fabric_of(const Cluster& cluster, const Partition& partition) {
  if (partition.fabric.shape != "none") return partition.nodes > 1 ? partition.fabric.id : "none";
  return cluster.between ? cluster.between->fabric.id : "none";
}

} // namespace

std::string render_collective_json(const CollectiveSweep& sweep, std::string_view version) {
  Json out{{"schema", "clustersim.collective/1"}, {"version", version}};
  out["collective"] = name_of(sweep.kind);
  out["partitions"] = Json::array();
  for (const Partition& partition : sweep.cluster.partitions) {
    out["partitions"].push_back({{"node", partition.node.id},
                                 {"nodes", partition.nodes},
                                 {"chips_per_node", partition.node.chips},
                                 {"fabric", fabric_of(sweep.cluster, partition)}});
  }
  out["ranks"] = sweep.ranks;
  out["concurrent"] = sweep.concurrent;
  out["assumptions"] = sweep.assumptions;
  out["rows"] = Json::array();
  for (const CollectiveRow& row : sweep.rows) {
    Json entry{{"bytes", row.bytes.si()}, {"time_us", row.time.si() / micro}};
    entry["algbw_gbs"] = row.algorithm_bandwidth.si() / giga;
    entry["busbw_gbs"] = row.bus_bandwidth.si() / giga;
    entry["algorithm"] = row.algorithm;
    entry["protocol"] = row.protocol;
    entry["latency_us"] = row.latency.si() / micro;
    entry["binding_edge"] = row.binding_edge.empty() ? Json(nullptr) : Json(row.binding_edge);
    entry["bound_by"] = row.bound_by_latency() ? "latency" : "bandwidth";
    if (sweep.concurrent > 1) {
      entry["groups_on_edge"] = row.sharing;
      entry["fastest_group_us"] = row.fastest_group.si() / micro;
    }
    out["rows"].push_back(std::move(entry));
  }
  return to_text(out);
}

std::string render_collective_csv(const CollectiveSweep& sweep) {
  std::string out = "collective,ranks,bytes,time_us,algbw_gbs,busbw_gbs,algorithm,protocol,"
                    "latency_us,binding_edge,bound_by\n";
  for (const CollectiveRow& row : sweep.rows) {
    out += csv_line({std::string{name_of(sweep.kind)}, std::to_string(sweep.ranks),
                     shortest(row.bytes.si()), shortest(row.time.si() / micro),
                     shortest(row.algorithm_bandwidth.si() / giga),
                     shortest(row.bus_bandwidth.si() / giga), row.algorithm, row.protocol,
                     shortest(row.latency.si() / micro), row.binding_edge,
                     row.bound_by_latency() ? "latency" : "bandwidth"});
  }
  return out;
}

} // namespace clustersim
