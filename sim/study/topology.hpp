#pragma once
// One machine as a graph, in figures, and what a collective puts on its links.

#include "network/collective.hpp"
#include "network/fold.hpp"
#include "network/survey.hpp"
#include "study/machine.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct TopologyQuestion {
  std::optional<CollectiveKind> collective;
  Bytes size;
  int ranks = 0; // of a group, dealt evenly to all nodes; 0 = every chip
  std::string algorithm{automatic_choice};
};

/// What a collective puts on the links, averaged over the time that it takes.
struct LinkLoads {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size;
  int ranks = 1;
  std::string algorithm;
  Seconds time;
  BytesPerSecond bus_bandwidth;
  std::optional<EdgeId> binding; // the edge that sets the rate
  bool bound_by_latency = false;
  std::vector<double> shares; // of the capacity, by EdgeId; empty on a machine of one chip
};

struct TopologyAnswer {
  Machine machine;
  LinkGraph graph;
  Survey survey;
  std::optional<LinkLoads> loads;
};

/// Nothing when the collective does not fit the machine; `why` then says so.
[[nodiscard]] std::optional<TopologyAnswer>
answer_topology(const Machine& machine, const TopologyQuestion& question, std::string& why);

/// The largest share of each tier of the survey; nothing without a collective.
[[nodiscard]] std::vector<double> busiest_shares(const TopologyAnswer& answer);

} // namespace clustersim
