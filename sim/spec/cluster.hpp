#pragma once
// Nodes, fabrics and the cluster built from them (topologies/nodes, topologies/fabrics, [cluster]).

#include "base/quantity.hpp"
#include "spec/chip.hpp"
#include "spec/link.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// A node: chips and how they are joined. `shape` names a generator of sim/network.
struct Node {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string note;
  Chip chip;
  int chips = 1;

  struct ScaleUp {
    std::string shape = "none"; // "none" (PCIe only), "switched" (NVSwitch), "mesh" (all to all),
                                // "bridged" (pairs), "torus", "explicit"
    Link link;                  // meaningless when shape is "none"
    int links_per_chip = 0;
    bool in_network_reduction = false;
    std::string torus;              // "16x16" or "2d"; of shape torus (spec/scale_up_graph.hpp)
    std::string wrap = "all";       // axes that close
    std::vector<std::string> edges; // of shape explicit: "0-3 x2"
  } scale_up;

  struct Host {
    int sockets = 1;          // of one host
    int chips = 0;            // that share a host, where a node is a rack or a slice; 0 = all
    Link pcie;                // chip to root or switch
    int chips_per_switch = 0; // PCIe switch fan-out; 0 = direct to the socket
    Link socket_link;         // UPI, xGMI between sockets
    bool peer_to_peer = true; // false: chip to chip bounces through host memory
    Link memory;              // socket memory as a link: bandwidth shared by all bounces
    BytesPerSecond dram;      // what all cores read and write together, where `memory` stands for
                              // something else; 0 = the memory of all sockets
    Bytes capacity;           // of all sockets; here and below 0 = not stated
    BytesPerSecond nvme_read, nvme_write; // of all local drives together
    Bytes nvme_capacity;
  } host;
  /// That share a host: all, or some where a node is a rack or a slice.
  [[nodiscard]] int chips_of_host() const {
    return host.chips > 0 && host.chips < chips ? host.chips : chips;
  }

  struct Nics {
    int count = 0;
    Link link; // rate of one NIC, per direction
    bool gpu_direct = true;
  } nics;

  std::optional<Watts> power;
  std::optional<Dollars> price;
  std::optional<double> rack_units;
};

/// Between nodes. `shape` names a generator of sim/network.
struct Fabric {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string note;
  std::string shape = "none"; // "none" (one node), "single-switch", "rail-optimized", "fat-tree",
                              // "dragonfly", "explicit"
  Link link;                  // switch port
  int nodes_per_leaf = 32;    // of one rail (rail-optimized) or of one leaf (fat-tree)
  double oversubscription = 1.0; // leaf down : up
  int leaves_per_group = 0; // leaves (routers) that meet before the topmost tier; 0 = no such tier
  double group_oversubscription = 1.0; // of a group's links to other groups
  std::vector<std::string>
      edges;              // of shape explicit: "node0-leaf0", "node0.nic1-leaf1", "leaf0-spine x4"
  Seconds switch_latency; // per switch crossed
  bool in_network_reduction = false; // SHARP
};

struct Partition {
  Node node;
  int nodes = 1;
  Fabric fabric;
  [[nodiscard]] int chips() const { return nodes * node.chips; }
};

/// What joins several partitions. Those without a fabric of their own plug into this one; the
/// topmost switches of the others hang at its topmost.
struct Between {
  Fabric fabric;
  std::optional<std::int64_t> links; // from each partition's own fabric; absent: one for each
                                     // network card, over the oversubscription
};

struct Cluster {
  std::vector<Partition> partitions;
  std::optional<Between> between; // of several partitions
  [[nodiscard]] int chips() const;
};

} // namespace clustersim
