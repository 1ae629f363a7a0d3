#include "network/cut.hpp"

#include "network/fold.hpp"
#include "network/shortest_path.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <queue>

namespace clustersim {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;

/// Dinic's algorithm on whole bytes per second.
class MaximumFlow {
public:
  explicit MaximumFlow(std::size_t vertices) : out_(vertices) {}
  void add(std::size_t from, std::size_t to, std::int64_t capacity) {
    out_[from].push_back(arcs_.size());
    arcs_.push_back({to, capacity});
    out_[to].push_back(arcs_.size());
    arcs_.push_back({from, 0});
  }
  std::int64_t run(std::size_t source, std::size_t sink) {
    std::int64_t total = 0;
    while (find_levels(source, sink)) {
      next_.assign(out_.size(), 0);
      while (const std::int64_t sent = push(source, sink))
        total = std::min(unlimited, total + sent);
    }
    return total;
  }

private:
  struct Arc {
    std::size_t to;
    std::int64_t left;
  };

  bool find_levels(std::size_t source, std::size_t sink) {
    level_.assign(out_.size(), -1);
    level_[source] = 0;
    std::queue<std::size_t> open({source});
    while (!open.empty()) {
      const std::size_t v = open.front();
      open.pop();
      for (const std::size_t a : out_[v]) {
        if (arcs_[a].left <= 0 || level_[arcs_[a].to] >= 0) continue;
        level_[arcs_[a].to] = level_[v] + 1;
        open.push(arcs_[a].to);
      }
    }
    return level_[sink] >= 0;
  }

  /// One path, depth first without recursion: a line of a million switches must not end the stack.
  std::int64_t push(std::size_t source, std::size_t sink) {
    std::vector<std::size_t> path;
    std::size_t at = source;
    while (at != sink) {
      std::size_t& n = next_[at];
      while (n < out_[at].size() && !leads(at, out_[at][n]))
        ++n;
      if (n < out_[at].size()) {
        path.push_back(out_[at][n]);
        at = arcs_[path.back()].to;
        continue;
      }
      if (path.empty()) return 0;
      at = arcs_[path.back() ^ 1U].to;
      path.pop_back();
      ++next_[at];
    }
    std::int64_t sent = unlimited;
    for (const std::size_t a : path)
      sent = std::min(sent, arcs_[a].left);
    for (const std::size_t a : path) {
      arcs_[a].left -= sent;
      arcs_[a ^ 1U].left += sent;
    }
    return sent;
  }
  [[nodiscard]] bool leads(std::size_t from, std::size_t arc) const {
    return arcs_[arc].left > 0 && level_[arcs_[arc].to] == level_[from] + 1;
  }

  std::vector<std::vector<std::size_t>> out_;
  std::vector<Arc> arcs_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

bool within_scale_up(VertexKind kind) {
  return kind == VertexKind::chip || kind == VertexKind::scale_up_switch;
}

/// Nodes whose chips all reach each other by scale-up links never use PCIe between them.
std::vector<char> closed_shapes(const LinkGraph& graph) {
  std::vector<char> closed;
  for (const NodeBlock& block : graph.nodes()) {
    if (block.shape.at() < closed.size()) continue;
    closed.resize(block.shape.at() + 1, 0);
    const PathGraph paths = PathGraph::scale_up(graph, block);
    bool all = block.chips > 1;
    for (int c = 0; c < block.chips && all; c += block.chips > 64 ? block.chips : 1) {
      const auto costs =
          paths.costs_from(graph.chips()[block.first_chip.at() + static_cast<std::size_t>(c)]);
      for (int other = 0; other < block.chips; ++other) {
        const auto place = block.first_chip.at() + static_cast<std::size_t>(other);
        all = all && costs[paths.index(graph.chips()[place])] != unreachable;
      }
    }
    closed.back() = all ? 1 : 0;
  }
  return closed;
}

struct CutArc {
  std::size_t from, to;
  std::int64_t capacity;
};

/// Without the PCIe side of a single node whose chips never use it between them.
bool in_use(const LinkGraph& graph, bool closed, VertexKind from, VertexKind to) {
  const bool scale_up = within_scale_up(from) && within_scale_up(to);
  return scale_up || !closed || graph.nodes().size() > 1;
}

BytesPerSecond flow_over(const std::vector<CutArc>& arcs, const std::vector<char>& side) {
  const std::size_t source = side.size(), sink = source + 1;
  MaximumFlow flow(sink + 1);
  for (const CutArc& arc : arcs)
    flow.add(arc.from, arc.to, arc.capacity);
  for (std::size_t v = 0; v < side.size(); ++v) {
    if (side[v] == 1) flow.add(source, v, unlimited);
    if (side[v] == 2) flow.add(v, sink, unlimited);
  }
  return BytesPerSecond{static_cast<double>(flow.run(source, sink))};
}

std::int64_t whole_bytes(BytesPerSecond rate) {
  return std::llround(std::min(rate.si(), 1e18));
}

/// Every way to halve the chips of a small node.
Bisection worst_halving(const LinkGraph& graph) {
  const std::size_t chips = graph.chips().size(), half = chips / 2;
  const bool closed = closed_shapes(graph).front() != 0;
  std::vector<CutArc> arcs;
  for (const Edge& edge : graph.edges()) {
    const VertexKind from = graph.kind(edge.from);
    const VertexKind to = graph.kind(edge.to);
    if (!in_use(graph, closed, from, to)) continue;
    arcs.push_back({edge.from.at(), edge.to.at(), whole_bytes(edge.capacity)});
  }
  Bisection best{{}, half, {}};
  int tried = 0;
  for (std::uint32_t mask = 0; mask < (1U << chips); ++mask) {
    const bool mirrored = chips % 2 == 0 && (mask & 1U) == 0;
    if (static_cast<std::size_t>(std::popcount(mask)) != half || mirrored) continue;
    std::vector<char> side(graph.vertices().size(), 0);
    for (std::size_t c = 0; c < chips; ++c)
      side[graph.chips()[c].at()] = (mask >> c & 1U) != 0 ? 1 : 2;
    const BytesPerSecond rate = flow_over(arcs, side);
    if (tried++ == 0 || rate < best.rate) best.rate = rate;
  }
  best.description =
      tried == 1 ? "one chip against the other" : fmt::format("the least of {} halvings", tried);
  return best;
}

/// The chips below the middle of an axis against those above.
Bisection across_axis(const LinkGraph& graph, const std::vector<TorusAxis>& axes,
                      std::size_t axis) {
  std::size_t stride = 1;
  for (std::size_t a = 0; a < axis; ++a)
    stride *= static_cast<std::size_t>(axes[a].extent);
  const auto extent = static_cast<std::size_t>(axes[axis].extent);
  std::vector<char> side(graph.vertices().size(), 0);
  Bisection cut;
  for (std::size_t c = 0; c < graph.chips().size(); ++c) {
    const bool low = c / stride % extent < extent / 2;
    side[graph.chips()[c].at()] = low ? 1 : 2;
    cut.half += low ? 1 : 0;
  }
  cut.rate = flow_between(graph, side);
  cut.description = fmt::format("torus cut across {}", "xyz"[axis]);
  return cut;
}

Bisection worst_axis(const LinkGraph& graph, const std::vector<TorusAxis>& axes) {
  Bisection best;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].extent < 2) continue;
    const Bisection cut = across_axis(graph, axes, a);
    if (best.half == 0 || cut.rate < best.rate) best = cut;
  }
  return best;
}

Bisection first_half(const LinkGraph& graph) {
  const std::size_t chips = graph.chips().size(), nodes = graph.nodes().size();
  std::size_t first = chips / 2, split = 0;
  if (nodes > 1) { // whole nodes, as many as hold no more than half of the chips
    while (split + 2 < nodes && graph.nodes()[split + 1].first_chip.at() +
                                        static_cast<std::size_t>(graph.nodes()[split + 1].chips) <=
                                    chips / 2)
      ++split;
    first = graph.nodes()[split + 1].first_chip.at();
  }
  std::vector<char> side(graph.vertices().size(), 0);
  for (std::size_t c = 0; c < chips; ++c)
    side[graph.chips()[c].at()] = c < first ? 1 : 2;
  Bisection cut{flow_between(graph, side), std::min(first, chips - first), {}};
  cut.description = nodes > 1 ? fmt::format("nodes 0-{} | {}-{}", split, split + 1, nodes - 1)
                              : fmt::format("chips 0-{} | {}-{}", first - 1, first, chips - 1);
  return cut;
}

} // namespace

BytesPerSecond flow_between(const LinkGraph& graph, const std::vector<char>& side) {
  const std::vector<char> closed = closed_shapes(graph);
  Colours colours;
  for (std::size_t v = 0; v < graph.vertices().size(); ++v) {
    const auto kind = static_cast<std::uint32_t>(graph.kind(VertexId{v}));
    colours.push_back(3 * kind + static_cast<std::uint32_t>(side[v]));
  }
  const FoldedGraph folded = fold(graph, std::move(colours));
  std::vector<CutArc> arcs;
  for (const FoldedEdge& edge : folded.edges) {
    const VertexKind from = folded.vertices[edge.from].kind, to = folded.vertices[edge.to].kind;
    if (!in_use(graph, closed.front() != 0, from, to)) continue;
    const BytesPerSecond all = edge.capacity * static_cast<double>(edge.count);
    arcs.push_back({edge.from, edge.to, whole_bytes(all)});
  }
  std::vector<char> of;
  for (const FoldedVertex& vertex : folded.vertices)
    of.push_back(side[vertex.sisters.front().at()]);
  return flow_over(arcs, of);
}

Bisection bisection_of(const LinkGraph& graph) {
  if (graph.chips().size() < 2) return {};
  if (graph.nodes().size() == 1) {
    const std::vector<TorusAxis>& axes = graph.torus(graph.nodes().front().shape);
    if (!axes.empty()) return worst_axis(graph, axes);
    if (graph.chips().size() <= static_cast<std::size_t>(most_single_chips)) {
      return worst_halving(graph);
    }
  }
  return first_half(graph);
}

} // namespace clustersim
