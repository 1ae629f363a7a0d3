#include "network/switch_ports.hpp"

namespace clustersim {

std::optional<SwitchPort> reducing_port(const LinkGraph& graph, const Router& router,
                                        NodeNumber node, std::uint32_t place) {
  if (node >= graph.nodes().size()) return std::nullopt;
  const VertexId chip = graph.chips()[router.rank(node, place).at()];
  const auto first = static_cast<std::uint32_t>(graph.nodes()[node].first_edge.at());
  for (const EdgeId out : graph.out_edges(chip)) {
    const VertexId middle = graph.edge(out).to;
    const Vertex vertex = graph.vertex(middle);
    if (vertex.kind != VertexKind::scale_up_switch || !vertex.reduces) continue;
    for (const EdgeId in : graph.out_edges(middle)) {
      if (graph.edge(in).to != chip) continue;
      return SwitchPort{graph.edge(out).link_class, out.value - first, in.value - first};
    }
  }
  return std::nullopt;
}

const std::vector<SwitchPort>& SwitchPorts::of(const Segment& segment) {
  const auto [found, fresh] =
      known_.try_emplace({kind_of_node(*graph_, segment.node), segment.places});
  if (!fresh) return found->second;
  for (const std::uint32_t place : layout_->places(segment)) {
    const auto port = reducing_port(*graph_, *router_, segment.node, place);
    if (!port) {
      found->second.clear();
      break;
    }
    found->second.push_back(*port);
  }
  return found->second;
}

} // namespace clustersim
