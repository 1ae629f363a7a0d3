#include "spec/check_cluster.hpp"

#include "spec/check_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clustersim {
namespace {

class ClusterChecks {
public:
  ClusterChecks(const ScenarioInput& input, const Reading& reading, const Loaded& loaded,
                Diagnostics& out)
      : input_(input), reading_(reading), loaded_(loaded), out_(out),
        listed_(!input.partitions.empty()) {}

  void run() {
    which();
    size();
    for (std::size_t i = 0; i < loaded_.parts.size(); ++i)
      part(i, loaded_.parts[i]);
    if (loaded_.parts.size() > 1) between();
    if (loaded_.parts.size() < 2 && reading_.has("cluster.between")) {
      wrong(reading_.place_of("cluster.between"), "one partition has nothing to be joined with",
            "cluster.between left out");
    }
  }

private:
  void which() {
    if (!listed_ && !reading_.has("cluster.node") && reading_.sound("cluster.node") &&
        reading_.sound("cluster.partition")) {
      out_.add(
          diagnose(reading_.place_of("cluster.node"), "'node' is missing in [cluster]",
                   "the name of a node; clustersim list nodes",
                   reading_.tables.count("cluster") > 0 ? "" : "add a table [cluster] with it"));
    }
    for (const char* key : {"cluster.node", "cluster.nodes", "cluster.fabric"}) {
      if (listed_ && reading_.has(key)) {
        wrong(reading_.place_of(key), fmt::format("'{}' beside [[cluster.partition]]", key),
              "one of them");
      }
    }
  }

  void size() {
    constexpr std::int64_t most_chips = 1000000;
    std::int64_t chips = 0;
    for (const Loaded::Part& one : loaded_.parts)
      chips += one.node == nullptr ? 0 : std::int64_t{one.nodes} * one.node->chips;
    if (chips > most_chips) {
      wrong(place(0, "nodes"), fmt::format("the cluster has {} chips", chips), "at most 1,000,000");
    }
  }

  void part(std::size_t i, const Loaded::Part& one) {
    const bool several = sound(i, "nodes") && one.nodes > 1;
    const bool alone = loaded_.parts.size() == 1;
    const bool no_fabric = listed_ ? input_.partitions[i].fabric.empty() : input_.fabric.empty();
    if (several && alone && sound(i, "fabric") && no_fabric) {
      wrong(place(i, "nodes"), fmt::format("{} nodes, but no fabric joins them", one.nodes),
            listed_ ? "a fabric, or one node" : "a cluster.fabric, or one node");
    }
    if (several && one.fabric != nullptr && one.node != nullptr) {
      report(place(i, "fabric"), {*one.node, one.nodes, *one.fabric});
    }
    if (several && alone && one.fabric != nullptr && one.fabric->shape == "none") {
      wrong(place(i, "fabric"), fmt::format("{} nodes, but this fabric joins none", one.nodes),
            "a fabric of another shape, or one node");
    }
    const bool joined = several || !alone;
    if (joined && one.node != nullptr && one.node->nics.count == 0) {
      wrong(place(i, "node"),
            alone ? "several nodes, but this node has no network card"
                  : "several partitions, but this node has no network card",
            alone ? "a node with [nic], or one node" : "a node with [nic]");
    }
  }

  /// The fabric between, and the nodes that plug into it.
  void between() {
    const Place at = reading_.place_of("cluster.between");
    if (!reading_.has("cluster.between")) {
      if (!reading_.sound("cluster.between")) return;
      return wrong(reading_.place_of("cluster.partition"),
                   fmt::format("{} partitions, but nothing joins them", loaded_.parts.size()),
                   "a fabric as cluster.between");
    }
    if (loaded_.between == nullptr) return;
    if (loaded_.between->shape == "none") {
      return wrong(at, "this fabric joins nothing", "a fabric of another shape");
    }
    Partition plugged; // counted as the fabric's own edges count them
    plugged.nodes = 0;
    plugged.fabric = *loaded_.between;
    for (const Loaded::Part& one : loaded_.parts) {
      const bool own = one.fabric != nullptr && one.fabric->shape != "none";
      if (one.node == nullptr || own) continue;
      plugged.nodes += one.nodes;
      plugged.node.nics.count = std::max(plugged.node.nics.count, one.node->nics.count);
    }
    report(at, plugged);
  }

  void report(const Place& at, const Partition& partition) {
    for (const ShapeProblem& problem : shape_problems(partition))
      wrong(at, problem.message, problem.expected);
  }

  [[nodiscard]] const Reading& reading_of(std::size_t i) const {
    return listed_ ? input_.partitions[i].reading : reading_;
  }
  [[nodiscard]] std::string spelt(const char* key) const {
    return listed_ ? key : std::string("cluster.") + key;
  }
  [[nodiscard]] bool sound(std::size_t i, const char* key) const {
    return reading_of(i).sound(spelt(key));
  }
  [[nodiscard]] Place place(std::size_t i, const char* key) const {
    return reading_of(i).place_of(spelt(key));
  }
  void wrong(const Place& at, std::string message, std::string expected) {
    out_.add(diagnose(at, std::move(message), std::move(expected)));
  }

  const ScenarioInput& input_;
  const Reading& reading_;
  const Loaded& loaded_;
  Diagnostics& out_;
  bool listed_;
};

} // namespace

void check_cluster(const ScenarioInput& input, const Reading& reading, const Loaded& loaded,
                   Diagnostics& out) {
  ClusterChecks(input, reading, loaded, out).run();
}

} // namespace clustersim
