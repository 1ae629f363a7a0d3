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
// here is a place in a kind of node (EdgePlaces), with the most that a collective puts on it in any
// such node.

#include "engine/cost_model.hpp"
#include "engine/recorder.hpp"
#include "network/concurrent.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace clustersim {

/// By slot.
inline constexpr std::uint32_t no_flow = ~std::uint32_t{0};
using RunningFlows = std::array<std::uint32_t, flow_slots>;

class FlowRates {
public:
  FlowRates(Network& network, const ResourceScale& scale);
  /// The number of this collective among all flows.
  std::uint32_t add(const Collective& collective, const CollectiveTime& time, bool contends = true);
  /// What shares no link with collectives: copies to the host.
  std::uint32_t add_apart();
  /// Which set these flows are; solved when first asked for.
  [[nodiscard]] std::size_t set_of(const RunningFlows& flows);
  [[nodiscard]] const FlowSet& set(std::size_t number) const { return sets_[number]; }
  [[nodiscard]] std::size_t solved() const { return sets_.size(); }

private:
  struct Load {
    std::size_t edge = 0; // a place
    double use = 0.0;     // share of the edge when the flow runs alone
  };
  [[nodiscard]] LinkClassId class_of(std::size_t place) const;
  [[nodiscard]] FlowSet solve(const RunningFlows& flows) const;

  const LinkGraph* graph_;
  ResourceScale scale_;
  EdgePlaces places_;
  std::map<Collective, std::uint32_t> known_;
  std::vector<std::vector<Load>> flows_;
  std::uint32_t apart_ = no_flow;
  std::map<RunningFlows, std::size_t> known_sets_;
  std::vector<FlowSet> sets_;
};

} // namespace clustersim
