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

/// The fabric that a partition's nodes plug into, and which of its places are theirs.
struct Outlet {
  const Fabric* fabric = nullptr; // none: the node stays alone
  FabricPorts ports;
  int first_node = 0;
};

BytesPerSecond port_of(const Fabric& fabric, const Partition& partition) {
  return std::min(achieved(fabric.link), achieved(partition.node.nics.link));
}

FabricPorts build_fabric(LinkGraph& graph, const Fabric& fabric,
                         const std::vector<const Partition*>& served, const std::string& prefix) {
  FabricClients clients;
  for (const Partition* partition : served) {
    clients.nodes += partition->nodes;
    clients.nics = std::max(clients.nics, partition->node.nics.count);
    clients.port = std::max(clients.port, port_of(fabric, *partition));
  }
  return find_shape(fabric_shape_table(), fabric.shape, "fabric")
      .build(graph, fabric, clients, prefix);
}

bool plugs_between(const Partition& partition) {
  return partition.fabric.shape == "none";
}

/// Every partition's topmost switch to the topmost between them.
void join_partitions(LinkGraph& graph, const Cluster& cluster, std::vector<Outlet>& outlets) {
  const Fabric& fabric = cluster.between->fabric;
  std::vector<const Partition*> served;
  for (const Partition& partition : cluster.partitions)
    if (plugs_between(partition)) served.push_back(&partition);
  FabricPorts common;
  common.top = served.empty() ? graph.add_vertex({VertexKind::spine, "between"}) : VertexId{};
  if (!served.empty()) common = build_fabric(graph, fabric, served, "");
  // A unit with nodes of two partitions is like no other, and neither are its neighbours.
  if (served.size() > 1) common.sites.clear();
  const LinkClassId link_class = graph.add_link_class(fabric.link);
  int node = 0;
  for (std::size_t p = 0; p < outlets.size(); ++p) {
    const Partition& partition = cluster.partitions[p];
    if (plugs_between(partition)) {
      outlets[p] = {&fabric, common, node};
      node += partition.nodes;
      continue;
    }
    const double cards = static_cast<double>(partition.nodes) * partition.node.nics.count;
    const double links = cluster.between->links ? static_cast<double>(*cluster.between->links)
                                                : cards / fabric.oversubscription;
    graph.add_duplex(outlets[p].ports.top, common.top, achieved(fabric.link, links),
                     fabric.switch_latency, link_class);
  }
}

std::vector<Outlet> build_fabrics(LinkGraph& graph, const Cluster& cluster) {
  std::vector<Outlet> outlets(cluster.partitions.size());
  const bool several = outlets.size() > 1;
  for (std::size_t p = 0; p < outlets.size(); ++p) {
    const Partition& partition = cluster.partitions[p];
    const bool own = several ? !plugs_between(partition) : partition.nodes > 1;
    if (!own || partition.node.nics.count == 0) continue;
    const std::string prefix = several ? fmt::format("partition{}/", p) : "";
    outlets[p] = {&partition.fabric, build_fabric(graph, partition.fabric, {&partition}, prefix),
                  0};
  }
  if (several && cluster.between) join_partitions(graph, cluster, outlets);
  return outlets;
}

/// A NIC's port runs at the slower of the NIC and the switch port.
void plug_in(LinkGraph& graph, const Link& link, const Outlet& outlet, int node,
             const std::vector<NicPort>& nics) {
  const LinkClassId nic_class = graph.add_link_class(link);
  const BytesPerSecond capacity = std::min(achieved(link), achieved(outlet.fabric->link));
  for (std::size_t i = 0; i < nics.size(); ++i) {
    const VertexId leaf = outlet.ports.leaf(outlet.first_node + node, static_cast<int>(i));
    graph.add_edge(nics[i].sends, leaf, capacity, link.latency + outlet.fabric->switch_latency,
                   nic_class);
    graph.add_edge(leaf, nics[i].receives, capacity, link.latency, nic_class);
  }
}

void build_node(LinkGraph& graph, const Partition& partition, const Outlet& outlet, int node) {
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
  if (outlet.fabric != nullptr) plug_in(graph, partition.node.nics.link, outlet, node, nics);
}

/// Nodes in blocks that hang at the same leaves: the first of each is built, the others repeat it.
void add_nodes(LinkGraph& graph, const Partition& partition, NodeShapeId shape,
               const Outlet& outlet, std::size_t first_group) {
  const bool alone = outlet.fabric == nullptr;
  const FabricPorts& ports = outlet.ports;
  const auto unit_of = [&](int node) { return alone ? 0 : ports.unit(outlet.first_node + node); };
  for (int node = 0; node < partition.nodes;) {
    const auto unit = static_cast<std::size_t>(unit_of(node));
    int end = alone ? partition.nodes : (unit_of(node) + 1) * ports.nodes_per_unit;
    end = std::min(end - (alone ? 0 : outlet.first_node), partition.nodes);
    const NodeGroupId group{first_group + unit - static_cast<std::size_t>(unit_of(0))};
    if (unit < ports.sites.size()) {
      NodeSite site = ports.sites[unit];
      site.shape = shape.value;
      graph.set_site(group, site);
    }
    graph.begin_node(shape, group);
    build_node(graph, partition, outlet, node);
    graph.end_node();
    graph.repeat_node(end - node - 1);
    node = end;
  }
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
  const std::vector<Outlet> outlets = build_fabrics(graph, cluster);
  std::size_t groups = 0;
  for (std::size_t p = 0; p < cluster.partitions.size(); ++p) {
    const Partition& partition = cluster.partitions[p];
    const Outlet& outlet = outlets[p];
    if (partition.node.scale_up.shape == "torus") {
      graph.set_torus(NodeShapeId{p}, axes_of(partition.node));
    }
    add_nodes(graph, partition, NodeShapeId{p}, outlet, groups);
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
