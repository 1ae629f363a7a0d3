#include "network/fluid.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace clustersim {
namespace {

/// Each edge once, in order.
std::vector<EdgeWeight> merged(std::vector<EdgeWeight> weights) {
  std::stable_sort(weights.begin(), weights.end(),
                   [](const EdgeWeight& a, const EdgeWeight& b) { return a.edge < b.edge; });
  std::vector<EdgeWeight> out;
  for (const EdgeWeight& one : weights) {
    if (!(one.weight >= 0.0) || !std::isfinite(one.weight)) throw Bug("a flow of negative weight");
    if (one.weight == 0.0) continue;
    if (!out.empty() && out.back().edge == one.edge) {
      out.back().weight += one.weight;
    } else {
      out.push_back(one);
    }
  }
  return out;
}

} // namespace

FluidEdgeId FluidShare::add_edge(BytesPerSecond capacity) {
  if (!(capacity.si() > 0.0) || !std::isfinite(capacity.si()))
    throw Bug("an edge without capacity");
  Edge& edge = edges_.emplace_back();
  edge.capacity = capacity;
  return FluidEdgeId{edges_.size() - 1};
}

/// Edges that are just full when all flows run at the rate they have alone hold nobody back.
/// `asked` is a running sum, so that what is close counts as full: solving more than needed is
/// safe.
bool FluidShare::can_fill(const Edge& edge) const {
  constexpr double close = 1e-9;
  return edge.users.size() > 1 && edge.asked > edge.capacity * (1.0 - close);
}

/// Adds to the running sum, or sums up anew before rounding errors matter.
void FluidShare::ask(Edge& edge, BytesPerSecond more) {
  constexpr std::uint32_t often = 1U << 12;
  edge.asked += more;
  if (++edge.changes < often && !edge.users.empty()) return;
  edge.changes = 0;
  edge.asked = {};
  for (const User& user : edge.users) {
    const Flow& flow = flows_[user.flow];
    edge.asked += flow.alone * flow.what.weights[user.weight].weight;
  }
}

void FluidShare::touch(std::uint32_t edge) {
  if (edges_[edge].dirty || !can_fill(edges_[edge])) return;
  edges_[edge].dirty = true;
  dirty_edges_.push_back(edge);
}

FlowId FluidShare::start(FluidFlow flow) {
  if (!(flow.share > 0.0) || !std::isfinite(flow.share)) throw Bug("a flow without a share");
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  Flow& made = flows_[id];
  made = Flow{};
  made.what = std::move(flow);
  made.runs = true;
  made.alone = made.what.most;
  std::vector<EdgeWeight>& weights = made.what.weights;
  weights = merged(std::move(weights));
  for (const EdgeWeight& one : weights) {
    const BytesPerSecond here = edges_[one.edge.at()].capacity / one.weight;
    if (here < made.alone) {
      made.alone = here;
      made.alone_at = one.edge;
    }
  }
  if (!std::isfinite(made.alone.si())) throw Bug("a flow that nothing holds back");
  for (std::size_t w = 0; w < weights.size(); ++w) {
    Edge& edge = edges_[weights[w].edge.at()];
    made.places.push_back(static_cast<std::uint32_t>(edge.users.size()));
    edge.users.push_back({id, static_cast<std::uint32_t>(w)});
    ask(edge, made.alone * weights[w].weight);
    touch(weights[w].edge.value);
  }
  dirty_flows_.push_back(id);
  return FlowId{id};
}

void FluidShare::end(FlowId flow) {
  Flow& gone = flows_[flow.at()];
  if (!gone.runs) throw Bug("a flow that does not run cannot end");
  for (std::size_t w = 0; w < gone.what.weights.size(); ++w) {
    const EdgeWeight& one = gone.what.weights[w];
    Edge& edge = edges_[one.edge.at()];
    touch(one.edge.value);
    const User last = edge.users.back();
    edge.users[gone.places[w]] = last;
    flows_[last.flow].places[last.weight] = gone.places[w];
    edge.users.pop_back();
    ask(edge, -(gone.alone * one.weight));
  }
  gone.runs = false;
  gone.rate = {};
  gone.what.weights.clear();
  free_.push_back(flow.value);
}

void FluidShare::see(std::uint32_t flow) {
  if (flows_[flow].seen || !flows_[flow].runs) return;
  flows_[flow].seen = true;
  part_flows_.emplace_back(flow);
}

/// Flows and edges that the dirty ones reach over edges that can fill.
void FluidShare::collect() {
  part_edges_.clear();
  part_flows_.clear();
  for (const std::uint32_t flow : dirty_flows_)
    see(flow);
  for (const std::uint32_t edge : dirty_edges_) {
    for (const User& user : edges_[edge].users)
      see(user.flow);
    edges_[edge].dirty = false;
  }
  dirty_flows_.clear();
  dirty_edges_.clear();
  for (std::size_t i = 0; i < part_flows_.size(); ++i) {
    const std::size_t reached = part_flows_[i].at();
    for (const EdgeWeight& one : flows_[reached].what.weights) {
      Edge& edge = edges_[one.edge.at()];
      if (edge.seen || !can_fill(edge)) continue;
      edge.seen = true;
      part_edges_.push_back(one.edge.value);
      for (const User& user : edge.users)
        see(user.flow);
    }
  }
  std::sort(part_flows_.begin(), part_flows_.end());
  std::sort(part_edges_.begin(), part_edges_.end());
}

void FluidShare::sum_rising(Edge& edge) const {
  edge.rising = 0.0;
  for (const User& user : edge.users) {
    const Flow& flow = flows_[user.flow];
    if (!flow.found) edge.rising += flow.what.weights[user.weight].weight * flow.what.share;
  }
  edge.rising_when_summed = edge.rising;
}

double FluidShare::level_of(const Edge& edge) const {
  return std::max(0.0, (edge.capacity - edge.held).si()) / edge.rising;
}

/// A flow's rate is found: what it puts on its edges rises no more. Differences lose digits, so a
/// sum that has halved is made anew: as often as an edge's flows can halve.
void FluidShare::hold(std::uint32_t flow, double level, std::optional<FluidEdgeId> at) {
  Flow& held = flows_[flow];
  held.found = true;
  held.rate = std::min(BytesPerSecond{level * held.what.share}, held.alone);
  held.bottleneck = at;
  for (const EdgeWeight& one : held.what.weights) {
    Edge& edge = edges_[one.edge.at()];
    if (!edge.seen) continue;
    edge.held += held.rate * one.weight;
    edge.rising -= one.weight * held.what.share;
    --edge.users_rising;
    if (edge.users_rising > 0 && edge.rising < 0.5 * edge.rising_when_summed) sum_rising(edge);
  }
}

void FluidShare::hold_users(std::uint32_t edge, double level) {
  for (const User& user : edges_[edge].users) {
    if (!flows_[user.flow].found) hold(user.flow, level, FluidEdgeId{edge});
  }
}

/// Progressive filling. The level at which an edge is full only rises while others are held, so an
/// entry of the heap that is out of date comes too early, and goes back with its level of now.
void FluidShare::solve() {
  heap_.clear();
  for (const FlowId id : part_flows_) {
    Flow& flow = flows_[id.at()];
    flow.found = false;
    heap_.push_back({flow.alone.si() / flow.what.share, id.value, true});
  }
  for (const std::uint32_t id : part_edges_) {
    Edge& edge = edges_[id];
    edge.held = {};
    edge.users_rising = static_cast<std::uint32_t>(edge.users.size());
    sum_rising(edge);
    heap_.push_back({level_of(edge), id, false});
  }
  const auto later = std::greater<>{};
  std::make_heap(heap_.begin(), heap_.end(), later);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Level next = heap_.back();
    heap_.pop_back();
    if (next.of_flow) {
      const Flow& flow = flows_[next.id];
      if (!flow.found) hold(next.id, next.level, flow.alone_at);
      continue;
    }
    const Edge& edge = edges_[next.id];
    if (edge.users_rising == 0) continue;
    const double now = level_of(edge);
    if (now > next.level) {
      heap_.push_back({now, next.id, false});
      std::push_heap(heap_.begin(), heap_.end(), later);
    } else {
      hold_users(next.id, next.level);
    }
  }
}

const std::vector<FlowId>& FluidShare::settle() {
  collect();
  solve();
  for (const FlowId id : part_flows_)
    flows_[id.at()].seen = false;
  for (const std::uint32_t id : part_edges_)
    edges_[id].seen = false;
  return part_flows_;
}

BytesPerSecond FluidShare::carried(FluidEdgeId edge) const {
  BytesPerSecond sum;
  for (const User& user : edges_[edge.at()].users) {
    const Flow& flow = flows_[user.flow];
    sum += flow.rate * flow.what.weights[user.weight].weight;
  }
  return sum;
}

} // namespace clustersim
