#pragma once
// How fast the collectives of one rank class run beside each other
// (docs/explanation/contention.md).
//
// A collective that takes t alone moves payload at S/t at most, and at that rate keeps an edge busy
// for the share u_e = busy_e · S / t of the time: less than 1 where latency, not bandwidth, takes
// the time. Collectives that run at once share the edges max-min fairly by the bytes that each has
// on its busiest edge; those whose shares add up to no more than 1 everywhere do not notice each
// other.
//
// Like nodes carry like loads, and every rank of a class runs all of its collectives. So an edge
// here is a place in a kind of node, with the most that a collective puts on it in any such node.

#include "engine/cost_model.hpp"
#include "network/fluid.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace clustersim {

/// Collectives at work: the one that blocks the compute lane, then the head of each other lane.
inline constexpr std::size_t flow_slots = lane_count;
inline constexpr std::uint32_t no_flow = ~std::uint32_t{0};
using RunningFlows = std::array<std::uint32_t, flow_slots>;

struct FlowSet {
  std::array<double, flow_slots> speed{}; // of each: 1 = as fast as alone
  std::vector<double>
      use; // of the busiest edge of each link class, by class: share of its capacity
};

class FlowRates {
public:
  FlowRates(Network& network, const ResourceScale& scale);
  /// The number of this collective among all flows.
  std::uint32_t add(const Collective& collective, const CollectiveTime& time, bool contends = true);
  /// Which set these flows are; solved when first asked for.
  [[nodiscard]] std::size_t set_of(const RunningFlows& flows);
  [[nodiscard]] const FlowSet& set(std::size_t number) const { return sets_[number]; }
  [[nodiscard]] std::size_t solved() const { return sets_.size(); }

private:
  using Place = std::pair<std::uint32_t, std::size_t>; // kind of node (or none), edge in it
  struct Load {
    std::size_t edge = 0; // into places_
    double use = 0.0;     // share of the edge when the flow runs alone
  };
  [[nodiscard]] std::size_t place_of(EdgeId edge);
  [[nodiscard]] FlowSet solve(const RunningFlows& flows) const;

  const LinkGraph* graph_;
  ResourceScale scale_;
  std::vector<std::size_t> first_edges_; // of the nodes
  std::map<Place, std::size_t> known_places_;
  std::vector<std::size_t> class_of_place_;
  std::map<Collective, std::uint32_t> known_;
  std::vector<std::vector<Load>> flows_;
  std::map<RunningFlows, std::size_t> known_sets_;
  std::vector<FlowSet> sets_;
};

} // namespace clustersim
