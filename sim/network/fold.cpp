#include "network/fold.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <unordered_map>

namespace clustersim {
namespace {

/// Finaliser of MurmurHash3: sums of mixed words tell multisets apart in any order.
std::uint64_t mixed(std::uint64_t word) {
  word ^= word >> 33U;
  word *= 0xff51afd7ed558ccdULL;
  word ^= word >> 33U;
  word *= 0xc4ceb9fe1a85ec53ULL;
  return word ^ (word >> 33U);
}

/// Numbers by first appearance, so that the result does not depend on the hash.
std::size_t renumber(const std::vector<std::uint64_t>& keys, Colours& colours) {
  std::unordered_map<std::uint64_t, std::uint32_t> known;
  for (std::size_t v = 0; v < keys.size(); ++v) {
    const auto next = static_cast<std::uint32_t>(known.size());
    colours[v] = known.emplace(keys[v], next).first->second;
  }
  return known.size();
}

std::size_t count_of(const Colours& colours) {
  return colours.empty() ? 0 : 1 + *std::max_element(colours.begin(), colours.end());
}

void refine(const LinkGraph& graph, Colours& colours) {
  std::vector<std::uint64_t> edge_words;
  edge_words.reserve(graph.edges().size());
  for (const Edge& edge : graph.edges()) {
    edge_words.push_back(mixed(std::bit_cast<std::uint64_t>(edge.capacity.si()) ^
                               (edge.link_class.value * 0x9e3779b97f4a7c15ULL)));
  }
  std::vector<std::uint64_t> keys(colours.begin(), colours.end());
  std::size_t before = 0, now = renumber(keys, colours); // callers leave holes
  while (now > before && now < colours.size()) {
    for (std::size_t v = 0; v < colours.size(); ++v)
      keys[v] = mixed(colours[v]);
    for (std::size_t e = 0; e < graph.edges().size(); ++e) {
      const Edge& edge = graph.edges()[e];
      keys[edge.from.at()] += mixed(edge_words[e] + 2 * std::uint64_t{colours[edge.to.at()]});
      keys[edge.to.at()] += mixed(edge_words[e] + 2 * std::uint64_t{colours[edge.from.at()]} + 1);
    }
    before = now;
    now = renumber(keys, colours);
  }
}

FoldedGraph folded_by(const LinkGraph& graph, const Colours& colours) {
  FoldedGraph out;
  out.vertex_of = colours;
  out.vertices.resize(count_of(colours));
  for (std::size_t v = 0; v < colours.size(); ++v) {
    FoldedVertex& vertex = out.vertices[colours[v]];
    if (vertex.sisters.empty()) vertex.kind = graph.kind(VertexId{v});
    vertex.sisters.emplace_back(v);
  }
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, double>, std::uint32_t> known;
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    const Edge& edge = graph.edges()[e];
    const std::uint32_t from = colours[edge.from.at()], to = colours[edge.to.at()];
    const auto next = static_cast<std::uint32_t>(out.edges.size());
    const auto [row, fresh] =
        known.emplace(std::tuple{from, to, edge.link_class.value, edge.capacity.si()}, next);
    if (fresh) {
      out.edges.push_back({from, to, edge.link_class, edge.capacity, edge.latency, 0, EdgeId{e}});
    }
    ++out.edges[row->second].count;
    out.edge_of.push_back(row->second);
  }
  return out;
}

/// Nodes whose vertices have the same colours in the same order.
void gather_nodes(const LinkGraph& graph, FoldedGraph& out) {
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, std::size_t> known;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const NodeBlock& block = graph.nodes()[n];
    const auto begin = out.vertex_of.begin() + static_cast<std::ptrdiff_t>(block.first_vertex.at());
    const auto [row, fresh] = known.emplace(
        std::pair{block.shape.value, std::vector(begin, begin + block.vertices)}, out.nodes.size());
    if (fresh) out.nodes.push_back({{}, block.shape});
    out.nodes[row->second].members.push_back(n);
    for (int v = 0; v < block.vertices; ++v)
      out.vertices[*(begin + v)].nodes = static_cast<int>(row->second);
  }
}

bool in_torus(const LinkGraph& graph, const Vertex& vertex) {
  if (vertex.node < 0) return false;
  return !graph.torus(graph.nodes()[static_cast<std::size_t>(vertex.node)].shape).empty();
}

/// May be split into halves where peers have no access to each other.
bool staged(const Vertex& vertex) {
  return vertex.node >= 0 &&
         (vertex.kind == VertexKind::nic || vertex.kind == VertexKind::pcie_switch ||
          vertex.kind == VertexKind::root_complex);
}

/// "root0" of "node3/root0.up": both halves of a stage that has no peer access.
std::string stem_of(const Vertex& vertex) {
  const std::size_t slash = vertex.name.find('/');
  std::string stem = slash == std::string::npos ? vertex.name : vertex.name.substr(slash + 1);
  return staged(vertex) ? stem.substr(0, stem.find('.')) : stem;
}

/// Colours of what a picture tells apart: by place in a small node, by kind elsewhere.
Colours picture_colours(const LinkGraph& graph) {
  std::map<std::tuple<std::uint32_t, int, std::string>, std::uint32_t> known;
  Colours colours;
  for (const Vertex& vertex : graph.vertices()) {
    std::tuple<std::uint32_t, int, std::string> key{0, static_cast<int>(vertex.kind), ""};
    if (vertex.node >= 0) {
      const NodeBlock& block = graph.nodes()[static_cast<std::size_t>(vertex.node)];
      std::get<0>(key) = block.shape.value + 1;
      if (block.chips <= most_single_chips && !in_torus(graph, vertex))
        std::get<2>(key) = stem_of(vertex);
    }
    colours.push_back(
        known.emplace(std::move(key), static_cast<std::uint32_t>(known.size())).first->second);
  }
  return colours;
}

} // namespace

std::string_view name_of(VertexKind kind) {
  switch (kind) {
  case VertexKind::chip:
    return "chip";
  case VertexKind::host_memory:
    return "host memory";
  case VertexKind::root_complex:
    return "root complex";
  case VertexKind::pcie_switch:
    return "PCIe switch";
  case VertexKind::scale_up_switch:
    return "scale-up switch";
  case VertexKind::nic:
    return "NIC";
  case VertexKind::leaf:
    return "leaf";
  case VertexKind::spine:
    return "spine";
  }
  throw Bug("unknown kind of vertex");
}

FoldedGraph fold(const LinkGraph& graph, Colours colours) {
  refine(graph, colours);
  FoldedGraph out = folded_by(graph, colours);
  gather_nodes(graph, out);
  return out;
}

FoldedGraph fold_for_picture(const LinkGraph& graph) {
  const Colours drawn = picture_colours(graph);
  Colours refined = drawn;
  refine(graph, refined);
  FoldedGraph fine = folded_by(graph, refined);
  gather_nodes(graph, fine);
  if (fine.nodes.size() > most_node_sorts) {
    refined = drawn;
  } else { // the halves of a stage look different to refinement, and are drawn as one
    std::map<std::pair<std::uint32_t, int>, std::uint32_t> joined;
    for (std::size_t v = 0; v < refined.size(); ++v) {
      const Vertex vertex = graph.vertex(VertexId{v});
      const bool torus = in_torus(graph, vertex); // ends of its lines look different, too
      if (!torus && !staged(vertex)) continue;
      const auto key = std::pair{drawn[v], torus ? -1 : fine.vertices[fine.vertex_of[v]].nodes};
      refined[v] = joined.emplace(key, refined[v]).first->second;
    }
  }
  std::vector<std::uint64_t> keys(refined.begin(), refined.end());
  renumber(keys, refined);
  FoldedGraph out = folded_by(graph, refined);
  gather_nodes(graph, out);
  return out;
}

} // namespace clustersim
