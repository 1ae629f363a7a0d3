#include "study/machine.hpp"

#include "spec/check_shapes.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace clustersim {
namespace {

/// Which of several fabrics of one link is likelier; the first is the commonest for training.
constexpr std::array<std::string_view, 3> preference{"rail-optimized", "fat-tree", "single-switch"};

std::size_t rank_of(const Fabric& fabric) {
  return static_cast<std::size_t>(std::find(preference.begin(), preference.end(), fabric.shape) -
                                  preference.begin());
}

std::vector<Fabric> all_fabrics(const Catalogue& catalogue) {
  std::vector<Fabric> fabrics;
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != Kind::fabric) continue;
    Diagnostics ignored; // a broken file complains when it is asked for by name
    if (auto fabric = load_fabric(catalogue, entry.id, ignored)) {
      fabrics.push_back(*std::move(fabric));
    }
  }
  return fabrics;
}

Fabric one_switch(const Link& link) {
  Fabric fabric;
  fabric.id = "single-switch";
  fabric.name = "One switch, " + link.name;
  fabric.shape = "single-switch";
  fabric.link = link;
  return fabric;
}

bool set_fabric(const Catalogue& catalogue, const MachineRequest& request, Partition& partition,
                std::vector<std::string>& assumptions, Diagnostics& out) {
  const Node& node = partition.node;
  if (node.nics.count == 0) {
    complain(out, "command line",
             fmt::format("{} has no network cards to join {} of them", node.id, request.nodes),
             "one node, or a node with [nic]");
    return false;
  }
  if (!request.fabric.empty()) {
    const auto fabric = load_fabric(catalogue, request.fabric, out);
    if (!fabric) return false;
    partition.fabric = *fabric;
    if (fabric->shape != "none") return true;
    complain(out, "command line", fmt::format("the fabric '{}' joins no nodes", fabric->id),
             "another fabric");
    return false;
  }
  partition.fabric = fabric_of_link(all_fabrics(catalogue), node.nics.link);
  assumptions.push_back(fmt::format("fabric not given: {}, by the link of the nodes' cards ({})",
                                    partition.fabric.id, node.nics.link.id));
  return true;
}

} // namespace

Fabric fabric_of_link(const std::vector<Fabric>& fabrics, const Link& link) {
  const Fabric* best = nullptr;
  for (const Fabric& fabric : fabrics) {
    if (fabric.shape == "none" || fabric.link.id != link.id) continue;
    if (best == nullptr || rank_of(fabric) < rank_of(*best)) best = &fabric;
  }
  return best != nullptr ? *best : one_switch(link);
}

std::optional<Machine> assemble_machine(const Catalogue& catalogue, const MachineRequest& request,
                                        Diagnostics& out) {
  const auto node = load_node(catalogue, request.node, out);
  if (!node) return std::nullopt;
  if (request.nodes < 1 || request.nodes > most_chips / node->chips) {
    complain(out, "command line", fmt::format("{} nodes of {} chips", request.nodes, node->chips),
             fmt::format("1 to {} nodes", most_chips / node->chips));
    return std::nullopt;
  }
  Machine machine;
  Partition partition{*node, static_cast<int>(request.nodes), {}};
  if (request.nodes > 1 && !set_fabric(catalogue, request, partition, machine.assumptions, out)) {
    return std::nullopt;
  }
  const std::vector<ShapeProblem> problems = shape_problems(partition);
  for (const ShapeProblem& problem : problems)
    complain(out, "command line", problem.message, problem.expected);
  if (!problems.empty()) return std::nullopt;
  machine.cluster.partitions.push_back(std::move(partition));
  return machine;
}

std::string describe(const Cluster& cluster) {
  std::string text;
  for (const Partition& partition : cluster.partitions) {
    text +=
        fmt::format("{}{} x {}", text.empty() ? "" : " + ", partition.nodes, partition.node.name);
    if (partition.nodes > 1 && partition.fabric.shape != "none")
      text += ", " + partition.fabric.name;
  }
  if (cluster.between) text += ", joined by " + cluster.between->fabric.name;
  return text;
}

} // namespace clustersim
