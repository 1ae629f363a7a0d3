#include "network/shortest_path.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <cmath>

namespace clustersim {

namespace {

constexpr PathCost one_hop = PathCost{1} << 42; // 4.4 s in picoseconds
constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

struct ArcWeight {
  PathCost cost = 0;
};
using CsrGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, ArcWeight,
                                                    boost::no_property, std::uint32_t>;

std::vector<EdgeId> edges_between(std::size_t first, std::size_t last) {
  std::vector<EdgeId> edges;
  for (std::size_t e = first; e < last; ++e)
    edges.emplace_back(e);
  return edges;
}

} // namespace

PathCost cost_of(const Edge& edge) {
  const double picoseconds = std::min(edge.latency.si() * 1e12, static_cast<double>(one_hop >> 8));
  return one_hop + std::llround(picoseconds);
}

int hops_in(PathCost cost) {
  return static_cast<int>(cost >> 42);
}

PathGraph::PathGraph(const LinkGraph& graph, std::vector<VertexId> vertices,
                     const std::vector<EdgeId>& edges)
    : vertices_(std::move(vertices)) {
  if (!vertices_.empty()) {
    first_vertex_ = vertices_.front().at();
    number_.assign(vertices_.back().at() - first_vertex_ + 1, absent);
  }
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    number_[vertices_[i].at() - first_vertex_] = static_cast<std::uint32_t>(i);
    forwards_.push_back(graph.vertex(vertices_[i]).forwards ? 1 : 0);
  }
  const auto number = [&](VertexId v) {
    const std::size_t at = v.at() - first_vertex_;
    return v.at() < first_vertex_ || at >= number_.size() ? absent : number_[at];
  };
  for (const EdgeId id : edges) {
    const Edge edge = graph.edge(id);
    const Arc arc{id, number(edge.from), number(edge.to), cost_of(edge), edge.latency};
    if (arc.from != absent && arc.to != absent) arcs_.push_back(arc);
  }
  std::stable_sort(arcs_.begin(), arcs_.end(),
                   [](const Arc& a, const Arc& b) { return a.from < b.from; });
  first_.assign(vertices_.size() + 1, 0);
  for (const Arc& arc : arcs_)
    ++first_[arc.from + 1];
  for (std::size_t v = 0; v < vertices_.size(); ++v)
    first_[v + 1] += first_[v];
}

PathGraph PathGraph::whole(const LinkGraph& graph) {
  std::vector<VertexId> all;
  for (std::size_t v = 0; v < graph.vertices().size(); ++v)
    all.emplace_back(v);
  return {graph, std::move(all), edges_between(0, graph.edges().size())};
}

PathGraph PathGraph::node(const LinkGraph& graph, const NodeBlock& block) {
  return within(graph, block, [](VertexKind) { return true; });
}

PathGraph PathGraph::scale_up(const LinkGraph& graph, const NodeBlock& block) {
  return within(graph, block, [](VertexKind kind) {
    return kind == VertexKind::chip || kind == VertexKind::scale_up_switch;
  });
}

PathGraph PathGraph::within(const LinkGraph& graph, const NodeBlock& block,
                            bool (*wanted)(VertexKind)) {
  std::vector<VertexId> inside;
  for (int v = 0; v < block.vertices; ++v) {
    const VertexId id{block.first_vertex.at() + static_cast<std::size_t>(v)};
    if (wanted(graph.kind(id))) inside.push_back(id);
  }
  const std::size_t first = block.first_edge.at();
  return {graph, std::move(inside),
          edges_between(first, first + static_cast<std::size_t>(block.edges))};
}

PathGraph PathGraph::fabric(const LinkGraph& graph) {
  return {graph, graph.switches(), graph.trunks()};
}

std::size_t PathGraph::index(VertexId vertex) const {
  return number_.at(vertex.at() - first_vertex_);
}

/// A vertex that does not forward passes on only what starts at it.
bool PathGraph::passes(const Arc& arc, std::size_t source) const {
  return arc.from == source || forwards_[arc.from] != 0;
}

std::vector<PathCost> PathGraph::costs_from(VertexId source) const {
  const std::size_t start = index(source);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<ArcWeight> weights;
  for (const Arc& arc : arcs_) {
    if (!passes(arc, start)) continue;
    ends.emplace_back(arc.from, arc.to);
    weights.push_back({arc.cost});
  }
  const CsrGraph csr(boost::edges_are_sorted, ends.begin(), ends.end(), weights.begin(),
                     static_cast<std::uint32_t>(vertices_.size()));
  std::vector<PathCost> costs(vertices_.size());
  const auto numbers = boost::get(boost::vertex_index, csr);
  boost::dijkstra_shortest_paths(
      csr, static_cast<std::uint32_t>(start),
      boost::weight_map(boost::get(&ArcWeight::cost, csr))
          .distance_map(boost::make_iterator_property_map(costs.begin(), numbers))
          .distance_inf(unreachable));
  return costs;
}

Route PathGraph::route(VertexId source, VertexId target, const std::vector<PathCost>& costs) const {
  Route result;
  const std::size_t start = index(source), end = index(target);
  if (start == end || costs[end] == unreachable) return result;
  const auto tight = [&](const Arc& arc) {
    return costs[arc.from] != unreachable && passes(arc, start) &&
           costs[arc.from] + arc.cost == costs[arc.to];
  };
  // Vertices that lead to the target by tight arcs, found from the far end in order of cost.
  std::vector<std::uint32_t> order;
  for (std::uint32_t v = 0; v < vertices_.size(); ++v) {
    if (costs[v] <= costs[end]) order.push_back(v);
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return costs[a] < costs[b]; });
  std::vector<char> leads(vertices_.size(), 0);
  leads[end] = 1;
  const auto useful = [&](std::uint32_t a) { return leads[arcs_[a].to] != 0 && tight(arcs_[a]); };
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    for (std::uint32_t a = first_[*v]; a < first_[*v + 1]; ++a) {
      if (useful(a)) leads[*v] = 1;
    }
  }
  std::vector<double> flow(vertices_.size(), 0.0);
  flow[start] = 1.0;
  for (const std::uint32_t v : order) {
    if (flow[v] <= 0.0 || v == end) continue;
    int branches = 0;
    for (std::uint32_t a = first_[v]; a < first_[v + 1]; ++a)
      branches += useful(a) ? 1 : 0;
    for (std::uint32_t a = first_[v]; a < first_[v + 1]; ++a) {
      if (!useful(a)) continue;
      result.edges.push_back({arcs_[a].edge, flow[v] / branches});
      result.latency += arcs_[a].latency * (flow[v] / branches);
      flow[arcs_[a].to] += flow[v] / branches;
    }
  }
  result.hops = hops_in(costs[end]);
  return result;
}

} // namespace clustersim
