#include "network/link_graph.hpp"

#include "base/bug.hpp"
#include "network/generators.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace clustersim {

namespace {

constexpr std::size_t most_site_shapes = std::size_t{1} << 20; // far above any number of partitions

std::string prefix_of(std::size_t node) {
  return fmt::format("node{}/", node);
}

template <class Table>
const auto& find_shape(const Table& table, std::string_view name, std::string_view what) {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
  if (found == table.end()) throw Bug(fmt::format("unknown {} shape '{}'", what, name));
  return *found;
}

template <class Table>
std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  names.reserve(table.size());
  for (const auto& row : table)
    names.emplace_back(row.name);
  return names;
}

/// A NIC's port runs at the slower of the NIC and the switch port.
void plug_in(LinkGraph& graph, const Partition& partition, const FabricPorts& ports, int node,
             const std::vector<NicPort>& nics) {
  const Link& link = partition.node.nics.link;
  const LinkClassId nic_class = graph.add_link_class(link);
  const BytesPerSecond capacity = std::min(achieved(link), achieved(partition.fabric.link));
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const VertexId leaf = ports.leaf(node, static_cast<int>(i));
    graph.add_edge(nics[i].sends, leaf, capacity, link.latency + partition.fabric.switch_latency,
                   nic_class);
    graph.add_edge(leaf, nics[i].receives, capacity, link.latency, nic_class);
  }
}

void build_node(LinkGraph& graph, const Partition& partition, const FabricPorts& ports, int node) {
  const std::string prefix = prefix_of(graph.nodes().size() - 1);
  std::vector<VertexId> chips;
  for (int i = 0; i < partition.node.chips; ++i) {
    Vertex chip{VertexKind::chip, fmt::format("{}gpu{}", prefix, i)};
    chip.forwards = partition.node.scale_up.shape == "torus"; // its chips have routers
    chips.push_back(graph.add_vertex(std::move(chip)));
  }
  find_shape(node_shape_table(), partition.node.scale_up.shape, "node")
      .join(graph, partition.node, prefix, chips);
  const std::vector<NicPort> nics = build_host(graph, partition.node, prefix, chips);
  if (!ports.leaves.empty()) plug_in(graph, partition, ports, node, nics);
}

} // namespace

VertexId LinkGraph::add_vertex(Vertex vertex) {
  const VertexId id{vertex_ids_.size()};
  if (!nodes_.empty() && nodes_.back().vertices < 0) {
    vertex.node = static_cast<int>(nodes_.size()) - 1;
  }
  if (vertex.kind == VertexKind::chip) {
    chips_.push_back(id);
    node_of_.push_back(vertex.node);
  }
  if (vertex.node < 0) switches_.push_back(id);
  vertex_ids_.add();
  vertices_.push_back(std::move(vertex));
  out_.emplace_back();
  in_.emplace_back();
  return id;
}

EdgeId LinkGraph::add_edge(VertexId from, VertexId to, BytesPerSecond capacity, Seconds latency,
                           LinkClassId link_class) {
  if (!(capacity.si() > 0.0) || !std::isfinite(capacity.si()) || !(latency.si() >= 0.0) ||
      from == to) {
    throw Bug(fmt::format("edge {} -> {} of {}: capacity {} B/s, latency {} s", vertex(from).name,
                          vertex(to).name, link_classes_.at(link_class.at()).id, capacity.si(),
                          latency.si()));
  }
  const EdgeId id{edge_ids_.size()};
  edge_ids_.add();
  edges_.push_back({from, to, capacity, latency, link_class});
  if (nodes_.empty() || nodes_.back().vertices >= 0) trunks_.push_back(id);
  stored_at(out_, from).push_back(id);
  stored_at(in_, to).push_back(id);
  return id;
}

void LinkGraph::add_duplex(VertexId a, VertexId b, BytesPerSecond capacity, Seconds latency,
                           LinkClassId link_class) {
  add_edge(a, b, capacity, latency, link_class);
  add_edge(b, a, capacity, latency, link_class);
}

LinkClassId LinkGraph::add_link_class(const Link& link) {
  const auto found = std::find_if(link_classes_.begin(), link_classes_.end(),
                                  [&](const Link& known) { return known.id == link.id; });
  if (found == link_classes_.end()) {
    link_classes_.push_back(link);
    return LinkClassId{link_classes_.size() - 1};
  }
  return LinkClassId{static_cast<std::size_t>(found - link_classes_.begin())};
}

void LinkGraph::begin_node(NodeShapeId shape, NodeGroupId group) {
  NodeBlock block;
  block.first_vertex = VertexId{vertex_ids_.size()};
  block.first_edge = EdgeId{edge_ids_.size()};
  block.first_chip = RankId{chips_.size()};
  block.vertices = -1; // open
  block.shape = shape;
  block.group = group;
  nodes_.push_back(block);
  vertex_ids_.begin_block();
  edge_ids_.begin_block();
}

void LinkGraph::end_node() {
  NodeBlock& block = nodes_.back();
  block.vertices = static_cast<int>(vertex_ids_.size() - block.first_vertex.at());
  block.edges = static_cast<int>(edge_ids_.size() - block.first_edge.at());
  block.chips = static_cast<int>(chips_.size() - block.first_chip.at());
  vertex_ids_.end_block();
  edge_ids_.end_block();
}

void LinkGraph::repeat_node(int count) {
  NodeBlock block = nodes_.back();
  for (int i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(block.chips); ++c) {
      const VertexId chip = chips_[block.first_chip.at() + c];
      chips_.emplace_back(chip.at() + static_cast<std::size_t>(block.vertices));
      node_of_.push_back(static_cast<std::int32_t>(nodes_.size()));
    }
    block.first_vertex =
        VertexId{block.first_vertex.at() + static_cast<std::size_t>(block.vertices)};
    block.first_edge = EdgeId{block.first_edge.at() + static_cast<std::size_t>(block.edges)};
    block.first_chip = RankId{block.first_chip.at() + static_cast<std::size_t>(block.chips)};
    nodes_.push_back(block);
  }
  vertex_ids_.repeat(static_cast<std::size_t>(std::max(0, count)));
  edge_ids_.repeat(static_cast<std::size_t>(std::max(0, count)));
}

NodeSite LinkGraph::site(NodeGroupId group) const {
  if (group.at() < sites_.size()) return sites_[group.at()];
  NodeSite alone; // above all shapes that were given
  alone.shape = static_cast<std::uint32_t>(most_site_shapes + group.at());
  alone.pod = alone.shape;
  return alone;
}

void LinkGraph::set_site(NodeGroupId group, const NodeSite& site) {
  while (sites_.size() <= group.at())
    sites_.push_back(this->site(NodeGroupId{sites_.size()}));
  sites_[group.at()] = site;
}

const std::vector<TorusAxis>& LinkGraph::torus(NodeShapeId shape) const {
  static const std::vector<TorusAxis> none;
  return shape.at() < tori_.size() ? tori_[shape.at()] : none;
}

void LinkGraph::set_torus(NodeShapeId shape, std::vector<TorusAxis> axes) {
  if (tori_.size() <= shape.at()) tori_.resize(shape.at() + 1);
  tori_[shape.at()] = std::move(axes);
}

std::string LinkGraph::edge_name(EdgeId edge) const {
  const Edge e = this->edge(edge);
  return vertex(e.from).name + " -> " + vertex(e.to).name;
}

LinkGraph build_link_graph(const Cluster& cluster) {
  LinkGraph graph;
  std::size_t groups = 0;
  for (std::size_t p = 0; p < cluster.partitions.size(); ++p) {
    const Partition& partition = cluster.partitions[p];
    FabricPorts ports;
    if (partition.nodes > 1 && partition.node.nics.count > 0) {
      ports = find_shape(fabric_shape_table(), partition.fabric.shape, "fabric")
                  .build(graph, partition);
    }
    if (partition.node.scale_up.shape == "torus") {
      graph.set_torus(NodeShapeId{p}, axes_of(partition.node));
    }
    const int per_unit = ports.leaves.empty() ? partition.nodes : ports.nodes_per_unit;
    for (int node = 0; node < partition.nodes; node += per_unit) {
      const std::size_t unit =
          ports.leaves.empty() ? 0 : static_cast<std::size_t>(ports.unit(node));
      if (unit < ports.sites.size()) {
        NodeSite site = ports.sites[unit];
        site.shape = static_cast<std::uint32_t>(p);
        graph.set_site(NodeGroupId{groups + unit}, site);
      }
      graph.begin_node(NodeShapeId{p}, NodeGroupId{groups + unit});
      build_node(graph, partition, ports, node);
      graph.end_node();
      graph.repeat_node(std::min(per_unit, partition.nodes - node) - 1);
    }
    groups = graph.nodes().empty() ? 0 : graph.nodes().back().group.at() + 1;
    graph.set_chips_per_node(partition.node.chips);
  }
  return graph;
}

std::vector<std::string> node_shapes() {
  return names_of(node_shape_table());
}
std::vector<std::string> fabric_shapes() {
  return names_of(fabric_shape_table());
}

} // namespace clustersim
