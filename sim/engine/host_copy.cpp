#include "engine/host_copy.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <optional>

namespace clustersim {

namespace {

std::vector<VertexId> memories_of(const LinkGraph& graph, const NodeBlock& node) {
  std::vector<VertexId> out;
  for (int i = 0; i < node.vertices; ++i) {
    const VertexId vertex{node.first_vertex.at() + static_cast<std::size_t>(i)};
    if (graph.kind(vertex) == VertexKind::host_memory) out.push_back(vertex);
  }
  return out;
}

/// The way with the fewest hops; of equals the first memory's.
Route nearest(Router& router, VertexId chip, const std::vector<VertexId>& memories, bool to_host) {
  std::optional<Route> best;
  for (const VertexId memory : memories) {
    const Route& route = to_host ? router.route(chip, memory) : router.route(memory, chip);
    if (!best || route.hops < best->hops) best = route;
  }
  if (!best) throw Bug("a copy to the host of a node without memory");
  return *best;
}

} // namespace

HostCopy copy_between_host(const LinkGraph& graph, Router& router, bool to_host) {
  const NodeBlock& node = graph.nodes().front();
  const std::vector<VertexId> memories = memories_of(graph, node);
  std::map<EdgeId, double> load; // bytes per byte of one chip
  std::map<LinkClassId, Seconds> longest;
  for (int i = 0; i < node.chips; ++i) {
    const VertexId chip = graph.chips()[node.first_chip.at() + static_cast<std::size_t>(i)];
    std::map<LinkClassId, Seconds> way;
    for (const EdgeShare& edge : nearest(router, chip, memories, to_host).edges) {
      load[edge.edge] += edge.share;
      const Edge one = graph.edge(edge.edge);
      way[one.link_class] += one.latency * edge.share;
    }
    for (const auto& [link, latency] : way)
      longest[link] = std::max(longest[link], latency);
  }
  std::map<LinkClassId, SecondsPerByte> busiest;
  for (const auto& [id, bytes] : load) {
    const Edge edge = graph.edge(id);
    const SecondsPerByte here = bytes / edge.capacity;
    busiest[edge.link_class] = std::max(busiest[edge.link_class], here);
  }
  HostCopy copy;
  for (const auto& [link, each] : busiest)
    copy.terms.push_back({graph.link_classes()[link.at()].id, each, longest[link]});
  return copy;
}

} // namespace clustersim
