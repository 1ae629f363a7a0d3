#pragma once
// Machines with round figures, so that every expected value is a formula over them.

#include "network/collective.hpp"

#include <optional>
#include <utility>

namespace clustersim::testing {

inline Link link(const std::string& id, double bytes_per_second, double latency = 0.0) {
  Link result;
  result.id = id;
  result.name = id;
  result.bandwidth = BytesPerSecond{bytes_per_second};
  result.latency = Seconds{latency};
  return result;
}

inline Protocol protocol(const std::string& name, double launch, double step, double fraction,
                         double fill) {
  return {name, Seconds{launch}, Seconds{step}, fraction, Seconds{fill}};
}

inline constexpr double nvlink_rate = 20e9, pcie_rate = 50e9, nic_rate = 10e9, memory_rate = 120e9,
                        socket_rate = 30e9;
inline constexpr int nvlinks = 10;

/// Eight chips on a switch, a PCIe switch and a NIC for each, two sockets.
inline Node switched_node() {
  Node node;
  node.id = "switched";
  node.chips = 8;
  node.scale_up.shape = "switched";
  node.scale_up.link = link("nvlink", nvlink_rate, 0.1e-6);
  node.scale_up.links_per_chip = nvlinks;
  node.host.sockets = 2;
  node.host.pcie = link("pcie", pcie_rate, 0.2e-6);
  node.host.chips_per_switch = 1;
  node.host.socket_link = link("socket", socket_rate, 0.3e-6);
  node.host.memory = link("memory", memory_rate, 0.1e-6);
  node.nics.count = 8;
  node.nics.link = link("nic", nic_rate, 0.5e-6);
  return node;
}

/// Four chips at one root complex and nothing but PCIe.
inline Node pcie_node(bool peer_to_peer) {
  Node node = switched_node();
  node.id = "pcie";
  node.chips = 4;
  node.scale_up.shape = "none";
  node.host.sockets = 1;
  node.host.chips_per_switch = 0;
  node.host.peer_to_peer = peer_to_peer;
  node.nics.count = 0;
  return node;
}

inline Fabric fabric(const std::string& shape) {
  Fabric result;
  result.id = shape;
  result.shape = shape;
  result.link = link("nic", nic_rate, 0.5e-6);
  result.nodes_per_leaf = 4;
  result.switch_latency = Seconds{0.2e-6};
  return result;
}

/// Links of one id are one class, whose first mention counts: cards and fabric share one link, as
/// in the catalogue.
inline Cluster cluster(const Node& node, int nodes = 1, Fabric between = fabric("none")) {
  Cluster result;
  if (between.link.id == node.nics.link.id) between.link = node.nics.link;
  result.partitions.push_back({node, nodes, between});
  return result;
}

/// Unlike parts of one cluster, those without a fabric at the one between.
inline Cluster joined(std::vector<Partition> parts, Fabric between) {
  Cluster result;
  for (Partition& part : parts) {
    if (part.fabric.link.id == part.node.nics.link.id) part.fabric.link = part.node.nics.link;
    result.partitions.push_back(std::move(part));
  }
  result.between = Between{std::move(between), std::nullopt};
  return result;
}

/// The steady rate of an algorithm: seconds per payload byte at the busiest edge.
inline SecondsPerByte busiest(const CollectiveForm& form) {
  SecondsPerByte most;
  for (const LinkTerm& term : form.terms) {
    if (term.busiest > most) most = term.busiest;
  }
  return most;
}

inline std::vector<CollectiveForm> forms_by(const std::string& algorithm, const LinkGraph& graph,
                                            Router& router, CollectiveKind kind,
                                            GroupFamily family) {
  for (const CollectiveAlgorithm& row : collective_algorithms()) {
    if (row.name == algorithm) return row.forms(graph, router, kind, family);
  }
  return {};
}

} // namespace clustersim::testing
