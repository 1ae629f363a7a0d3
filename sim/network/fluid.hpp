#pragma once
// Max-min fair sharing of links by fluid flows (docs/explanation/contention.md).
//
// A flow f moves payload at x_f bytes/s and puts w_fe · x_f bytes/s on edge e: w = 1 on the route
// of a message, its load vector for a collective. Rates rise together, x_f = s_f · λ with the
// flow's share s_f, until an edge is full (Σ_f w_fe · x_f = C_e) or a flow reaches the most that it
// can do alone; the flows held there keep their rate, all others rise on. This "progressive
// filling" ends in the one allocation in which each flow has a bottleneck: an edge that is full,
// and on which no flow has more per share (Bertsekas, Gallager, "Data Networks", 1992, §6.5.2).
//
// When a flow starts or ends, only flows that are joined to it by edges that can fill are solved
// anew. An edge can fill when its flows, each at the rate that it has alone, ask for more than it
// carries.
//
// Two flows on an edge of 10 B/s, w = 1, and one of them on an edge of 3 B/s besides: λ = 3 fills
// the narrow edge, then the other takes the 7 that are left.

#include "base/index.hpp"
#include "base/quantity.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace clustersim {

using FluidEdgeId = Index<struct FluidEdgeTag>; // edges that flows meet on, numbered as added
using FlowId = Index<struct FlowTag>;           // reused once the flow has ended

struct EdgeWeight {
  FluidEdgeId edge;
  double weight = 1.0; // bytes on the edge per byte of payload
};

struct FluidFlow {
  std::vector<EdgeWeight> weights; // an edge named twice carries both
  /// Payload rates of flows that are held at one edge stand in this ratio. Sister groups that run
  /// as one flow, k of them on the edge, have the share of one.
  double share = 1.0;
  BytesPerSecond most{std::numeric_limits<double>::infinity()}; // what else holds it back
};

class FluidShare {
public:
  FluidEdgeId add_edge(BytesPerSecond capacity);
  FlowId start(FluidFlow flow);
  void end(FlowId flow);
  /// Brings the rates up to date; returns the flows that were solved anew, ascending.
  const std::vector<FlowId>& settle();

  [[nodiscard]] BytesPerSecond rate(FlowId flow) const { return flows_[flow.at()].rate; }
  /// The edge that holds the flow back; nothing when it is the flow's own `most`.
  [[nodiscard]] std::optional<FluidEdgeId> bottleneck(FlowId flow) const {
    return flows_[flow.at()].bottleneck;
  }
  [[nodiscard]] BytesPerSecond capacity(FluidEdgeId edge) const {
    return edges_[edge.at()].capacity;
  }
  [[nodiscard]] BytesPerSecond carried(FluidEdgeId edge) const;
  [[nodiscard]] std::size_t running() const { return flows_.size() - free_.size(); }

private:
  struct User { // a flow on an edge
    std::uint32_t flow = 0, weight = 0;
  };
  struct Edge {
    BytesPerSecond capacity;
    BytesPerSecond asked; // by all flows, each at the rate that it has alone
    std::vector<User> users;
    std::uint32_t changes = 0; // of `asked` since it was summed up
    // While solving:
    bool dirty = false, seen = false;
    BytesPerSecond held;                           // by flows whose rate is found
    double rising = 0.0, rising_when_summed = 0.0; // Σ w · s of the others
    std::uint32_t users_rising = 0;
  };
  struct Flow {
    FluidFlow what;
    std::vector<std::uint32_t> places; // in the users of each edge
    BytesPerSecond alone;
    std::optional<FluidEdgeId> alone_at;
    BytesPerSecond rate;
    std::optional<FluidEdgeId> bottleneck;
    bool runs = false, seen = false, found = false;
  };
  struct Level { // at which an edge is full, or a flow at its most
    double level = 0.0;
    std::uint32_t id = 0;
    bool of_flow = false;
    friend bool operator>(const Level& a, const Level& b) {
      return std::tie(a.level, a.of_flow, a.id) > std::tie(b.level, b.of_flow, b.id);
    }
  };

  [[nodiscard]] bool can_fill(const Edge& edge) const;
  void ask(Edge& edge, BytesPerSecond more);
  void touch(std::uint32_t edge);
  void see(std::uint32_t flow);
  void collect();
  void sum_rising(Edge& edge) const;
  [[nodiscard]] double level_of(const Edge& edge) const;
  void solve();
  void hold(std::uint32_t flow, double level, std::optional<FluidEdgeId> at);
  void hold_users(std::uint32_t edge, double level);

  std::vector<Edge> edges_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> dirty_edges_, dirty_flows_;
  std::vector<std::uint32_t> part_edges_; // what is solved anew
  std::vector<FlowId> part_flows_;
  std::vector<Level> heap_;
};

} // namespace clustersim
