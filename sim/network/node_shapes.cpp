// How a node's chips are joined by their scale-up links.

#include "network/generators.hpp"

#include "base/bug.hpp"
#include "spec/scale_up_graph.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace clustersim {

namespace {

void join_by_pcie_alone(LinkGraph&, const Node&, const std::string&, const std::vector<VertexId>&) {
}

/// All switch chips as one vertex: each chip spreads its links evenly over them, and a crossbar
/// does not block, so only the ports of the chips can bind.
void join_by_switch(LinkGraph& graph, const Node& node, const std::string& prefix,
                    const std::vector<VertexId>& chips) {
  Vertex vertex{VertexKind::scale_up_switch, prefix + "switch"};
  vertex.reduces = node.scale_up.in_network_reduction;
  const VertexId middle = graph.add_vertex(std::move(vertex));
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  for (const VertexId chip : chips) {
    graph.add_duplex(chip, middle, achieved(link, node.scale_up.links_per_chip), link.latency,
                     link_class);
  }
}

/// Every pair directly; a chip's links are divided evenly among its peers.
void join_all_pairs(LinkGraph& graph, const Node& node, const std::string&,
                    const std::vector<VertexId>& chips) {
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  const double peers = static_cast<double>(std::max<std::size_t>(chips.size(), 2) - 1);
  for (std::size_t a = 0; a < chips.size(); ++a) {
    for (std::size_t b = a + 1; b < chips.size(); ++b) {
      graph.add_duplex(chips[a], chips[b], achieved(link, node.scale_up.links_per_chip / peers),
                       link.latency, link_class);
    }
  }
}

/// Neighbours 0-1, 2-3, … by a bridge; the rest by PCIe. An odd chip has no bridge.
void join_pairs(LinkGraph& graph, const Node& node, const std::string&,
                const std::vector<VertexId>& chips) {
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  for (std::size_t a = 0; a + 1 < chips.size(); a += 2) {
    graph.add_duplex(chips[a], chips[a + 1], achieved(link, node.scale_up.links_per_chip),
                     link.latency, link_class);
  }
}

/// Each chip to the next one on every axis, its links spread evenly over the directions. An axis of
/// two has one link between its two places.
void join_torus(LinkGraph& graph, const Node& node, const std::string&,
                const std::vector<VertexId>& chips) {
  const std::vector<TorusAxis> axes = axes_of(node);
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  const double directions = 2.0 * static_cast<double>(axes.size());
  const BytesPerSecond capacity = achieved(link, node.scale_up.links_per_chip / directions);
  std::size_t stride = 1;
  for (const TorusAxis& axis : axes) {
    const auto extent = static_cast<std::size_t>(axis.extent);
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const bool last = c / stride % extent == extent - 1;
      if (last && !axis.wraps) continue;
      const std::size_t next = last ? c - (extent - 1) * stride : c + stride;
      graph.add_duplex(chips[c], chips[next], capacity, link.latency, link_class);
    }
    stride *= extent;
  }
}

/// As the file lists them. Places beyond the node's chips are not filled; names are switches.
void join_listed(LinkGraph& graph, const Node& node, const std::string& prefix,
                 const std::vector<VertexId>& chips) {
  const Link& link = node.scale_up.link;
  const LinkClassId link_class = graph.add_link_class(link);
  std::map<std::string, VertexId> switches;
  const auto vertex = [&](const std::string& name) -> std::optional<VertexId> {
    if (const auto number = vertex_number(name)) {
      const auto place = static_cast<std::size_t>(*number);
      return place < chips.size() ? std::optional(chips[place]) : std::nullopt;
    }
    const auto known = switches.find(name);
    if (known != switches.end()) return known->second;
    Vertex middle{VertexKind::scale_up_switch, prefix + name};
    middle.reduces = node.scale_up.in_network_reduction;
    return switches.emplace(name, graph.add_vertex(std::move(middle))).first->second;
  };
  for (const std::string& text : node.scale_up.edges) {
    std::string why;
    const auto edge = listed_edge(text, why);
    if (!edge) throw Bug(why);
    const auto from = vertex(edge->from), to = vertex(edge->to);
    if (!from || !to) continue;
    graph.add_edge(*from, *to, achieved(link, edge->links), link.latency, link_class);
    if (!edge->both_ways) continue;
    graph.add_edge(*to, *from, achieved(link, edge->links), link.latency, link_class);
  }
}

} // namespace

std::vector<TorusAxis> axes_of(const Node& node) {
  std::string why;
  const auto axes = torus_axes(node.scale_up.torus, node.scale_up.wrap, node.chips, why);
  if (!axes) throw Bug(fmt::format("{}: {}", node.id, why));
  return *axes;
}

BytesPerSecond achieved(const Link& link, double units) {
  return link.bandwidth * (link.achieved_fraction * units);
}

const std::vector<NodeShape>& node_shape_table() {
  static const std::vector<NodeShape> table{
      {"none", join_by_pcie_alone}, {"switched", join_by_switch}, {"mesh", join_all_pairs},
      {"bridged", join_pairs},      {"torus", join_torus},        {"explicit", join_listed}};
  return table;
}

} // namespace clustersim
