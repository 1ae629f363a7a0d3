#pragma once
// How traffic of a chip leaves its node and enters another.

#include "network/routing.hpp"
#include "network/shortest_path.hpp"

#include <map>
#include <vector>

namespace clustersim {

/// The gates of a node's chips, for traffic that leaves it or that enters it.
class GateFinder {
public:
  GateFinder(const LinkGraph& graph, const NodeBlock& node, bool leaving);

  /// All ways between a chip and the fabric, the cheapest per port, cheapest first. A chip may use
  /// another chip's NIC by way of their scale-up links (NCCL's PXN), so that traffic for another
  /// rail need not climb to the spine.
  [[nodiscard]] std::vector<Gate> find(std::size_t chip);

private:
  [[nodiscard]] std::vector<Gate> direct(VertexId chip);
  [[nodiscard]] std::vector<Gate> by_peers(std::size_t chip) const;
  [[nodiscard]] Route joined(const Route& near_chip, const Route& near_port) const;
  [[nodiscard]] VertexId vertex_of(std::size_t chip) const {
    return graph_->chips()[node_.first_chip.at() + chip];
  }
  const std::vector<PathCost>& costs_from(VertexId vertex);

  struct Port {
    EdgeId edge; // between card and leaf
    VertexId card;
    Seconds latency;
  };
  const LinkGraph* graph_;
  std::vector<Port> ports_;
  NodeBlock node_;
  bool leaving_;
  PathGraph paths_, scale_up_;
  std::map<VertexId, std::vector<PathCost>> costs_;
  std::vector<std::vector<PathCost>> scale_up_costs_; // by chip
  std::vector<std::vector<Gate>> direct_;             // by chip; empty on a torus
};

[[nodiscard]] PathCost cost_of(const Route& route);

} // namespace clustersim
