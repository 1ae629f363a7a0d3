// Ids of items that repeat in blocks.

#include "network/link_graph.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

void RepeatedIds::add() {
  if (runs_.empty() || !runs_.back().open) runs_.push_back({size_, stored_, 0, 1, true});
  ++runs_.back().size;
  ++size_;
  ++stored_;
}

void RepeatedIds::begin_block() {
  runs_.push_back({size_, stored_, 0, 1, true});
}

void RepeatedIds::end_block() {
  runs_.back().open = false;
}

void RepeatedIds::repeat(std::size_t count) {
  if (runs_.empty() || runs_.back().open) throw Bug("nothing closed to repeat");
  runs_.back().count += count;
  size_ += runs_.back().size * count;
}

const RepeatedIds::Run& RepeatedIds::run_of(std::size_t id) const {
  if (id >= size_) throw Bug(fmt::format("id {} of {}", id, size_));
  const auto after = std::upper_bound(runs_.begin(), runs_.end(), id,
                                      [](std::size_t v, const Run& run) { return v < run.first; });
  return *(after - 1);
}

RepeatedIds::Place RepeatedIds::place(std::size_t id) const {
  const Run& run = run_of(id);
  const std::size_t at = id - run.first;
  if (run.count == 1) return {run.stored + at, 0, 0};
  const std::size_t block = at / run.size;
  return {run.stored + at % run.size, block, block * run.size};
}

void RepeatedIds::each_repetition(std::size_t id, std::vector<std::size_t>& out) const {
  const Run& run = run_of(id);
  for (std::size_t block = 0; block < run.count; ++block)
    out.push_back(id + block * run.size);
}

// An id inside a node that is not stored is that of the first node of its run, shifted; one outside
// nodes (a leaf) is the same for all of them.

Vertex LinkGraph::vertex(VertexId id) const {
  const RepeatedIds::Place place = vertex_ids_.place(id.at());
  Vertex found = vertices_[place.stored];
  if (place.block == 0) return found;
  found.node += static_cast<int>(place.block);
  found.name = fmt::format("node{}/{}", found.node, found.name.substr(found.name.find('/') + 1));
  return found;
}

Edge LinkGraph::edge(EdgeId id) const {
  const RepeatedIds::Place place = edge_ids_.place(id.at());
  Edge found = edges_[place.stored];
  if (place.block == 0) return found;
  const auto shifted = [&](VertexId end) {
    const Vertex& vertex = vertices_[vertex_ids_.place(end.at()).stored];
    if (vertex.node < 0) return end;
    const std::size_t block =
        static_cast<std::size_t>(nodes_[static_cast<std::size_t>(vertex.node)].vertices);
    return VertexId{end.at() + place.block * block};
  };
  found.from = shifted(found.from);
  found.to = shifted(found.to);
  return found;
}

std::vector<EdgeId> LinkGraph::at(const std::vector<std::vector<EdgeId>>& stored,
                                  VertexId vertex) const {
  const RepeatedIds::Place place = vertex_ids_.place(vertex.at());
  const std::vector<EdgeId>& first = stored[place.stored];
  const int node = vertices_[place.stored].node;
  std::vector<std::size_t> ids;
  for (const EdgeId edge : first) {
    if (node < 0) {
      edge_ids_.each_repetition(edge.at(), ids); // ports of all nodes that hang here
      continue;
    }
    const NodeBlock& block = nodes_[static_cast<std::size_t>(node)];
    ids.push_back(edge.at() + place.block * static_cast<std::size_t>(block.edges));
  }
  std::sort(ids.begin(), ids.end());
  std::vector<EdgeId> edges;
  edges.reserve(ids.size());
  for (const std::size_t id : ids)
    edges.emplace_back(id);
  return edges;
}

Vertex vertex_of(const LinkGraph& graph, std::size_t id) {
  return graph.vertex(VertexId{id});
}

Edge edge_of(const LinkGraph& graph, std::size_t id) {
  return graph.edge(EdgeId{id});
}

} // namespace clustersim
