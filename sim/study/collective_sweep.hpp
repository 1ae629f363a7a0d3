#pragma once
// One collective over a range of sizes, as nccl-tests measures it: every size alone, on an
// otherwise idle machine, `concurrent` groups starting together.

#include "network/collective.hpp"
#include "spec/cluster.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 0;      // of a group, dealt evenly to all nodes; 0 = every chip
  int concurrent = 1; // groups side by side in each node
  std::string algorithm{automatic_choice};
  std::vector<Bytes> sizes;
};

struct CollectiveRow {
  Bytes bytes;
  Seconds time, latency; // latency: launch and steps, what no bandwidth shortens
  BytesPerSecond algorithm_bandwidth, bus_bandwidth;
  std::string algorithm, protocol;
  std::string binding_edge; // that sets the steady rate; empty when nothing moves
  int sharing = 1;          // groups that use this edge
  Seconds fastest_group;    // `time` is the slowest one's
  [[nodiscard]] bool bound_by_latency() const { return 2.0 * latency > time; }
};

struct CollectiveSweep {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Cluster cluster;
  int ranks = 1, concurrent = 1;
  std::vector<std::string> assumptions; // sentences
  std::vector<CollectiveRow> rows;
};

/// How the ranks lie on the machine; nothing when they do not fit it, and `why` then says so.
[[nodiscard]] std::optional<GroupFamily> family_of(const Cluster& cluster, int ranks,
                                                   int concurrent, std::string& why);

/// Nothing when the question does not fit the machine or the algorithm does not apply; `why` then
/// says so.
[[nodiscard]] std::optional<CollectiveSweep>
sweep_collective(const Cluster& cluster, const CollectiveQuestion& question, std::string& why);

} // namespace clustersim
