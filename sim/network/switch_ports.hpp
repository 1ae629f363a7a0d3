#pragma once
// The ports of a node's chips on a switch that reduces and multicasts.

#include "network/traffic.hpp"

#include <map>
#include <optional>

namespace clustersim {

struct SwitchPort {
  LinkClassId transport;
  std::uint32_t out = 0, in = 0; // edges counted from the node's first
};

/// Nothing where the chip hangs at no such switch.
[[nodiscard]] std::optional<SwitchPort> reducing_port(const LinkGraph& graph, const Router& router,
                                                      NodeNumber node, std::uint32_t place);

/// Nodes of one shape and one set of places have the same ports.
class SwitchPorts {
public:
  SwitchPorts(const LinkGraph& graph, const Router& router, const Layout& layout)
      : graph_(&graph), router_(&router), layout_(&layout) {}
  /// The ports of all places of a segment; empty where one has none.
  const std::vector<SwitchPort>& of(const Segment& segment);

private:
  const LinkGraph* graph_;
  const Router* router_;
  const Layout* layout_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<SwitchPort>> known_;
};

} // namespace clustersim
