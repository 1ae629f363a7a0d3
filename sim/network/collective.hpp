#pragma once
// Collectives as closed forms on the link graph (docs/explanation/collectives.md):
//
//   T(S) = launch + Σ steps·hop + busiest·S + sqrt(fill · busiest·S) + local·S
//
// where busiest = max over directed edges of (bytes carried per payload byte / capacity), with all
// sister groups of the family running at once; of an algorithm in stages, the sum over these.
// `auto` takes the fastest form for each size. Bandwidth conventions are those of nccl-tests; S is
// the all-reduce buffer, the all-gather output, the reduce-scatter input, the all-to-all buffer of
// one rank.

#include "network/link_graph.hpp"
#include "network/routing.hpp"
#include "spec/resources.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clustersim {

enum class CollectiveKind {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  send_recv
};
inline constexpr std::array all_collective_kinds{
    CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
    CollectiveKind::all_to_all, CollectiveKind::broadcast,  CollectiveKind::reduce,
    CollectiveKind::send_recv};
[[nodiscard]] std::string_view name_of(CollectiveKind kind);

/// The groups of one parallel axis: ranks {base + i·stride, i < size} for every base that is a
/// multiple pattern of the axis. All of them communicate at the same moment. In blocks, rank i of a
/// group is base + ⌊i / block⌋·block_stride + (i mod block)·stride: so many chips of each node.
struct GroupFamily {
  int size = 1;
  int stride = 1;
  int groups = 0; // that run at once, from the first; 0 = all that tile the world
  int block = 0;  // ranks of a block; 0 = the whole group is one
  int block_stride = 0;
  int first = 0; // the groups tile the `ranks` chips from this one on (a partition of the cluster);
  int ranks = 0; // 0 = all that follow
  int first_group = 0; // which of them the count begins with
  friend auto operator<=>(const GroupFamily&, const GroupFamily&) = default;
};

/// What one link class contributes to a form.
struct LinkTerm {
  LinkClassId link_class;
  Seconds latency;        // steps · hop over this class
  SecondsPerByte busiest; // per payload byte, at the class's busiest edge
  EdgeId edge;            // that edge
  int stage = 0;          // stages follow one another; within one all edges work at once
};

/// What the library expects of an algorithm when it chooses between ring and tree (spec/link.hpp).
struct Belief {
  Seconds latency;
  SecondsPerByte busiest;
};

struct FormLoads; // what the form puts on the edges, for edge_times()

struct CollectiveForm {
  std::string algorithm; // "ring", "hierarchical", "in-switch"
  std::string protocol;  // "low-latency", "bulk", "in-switch"
  Seconds launch;
  LinkClassId launch_class; // whose latency scale the launch follows
  std::vector<LinkTerm> terms;
  Seconds fill;
  SecondsPerByte local;
  LinkClassId local_class;
  std::optional<Belief> belief; // of the algorithm, the same in all of its protocols
  std::shared_ptr<const FormLoads> loads = nullptr; // shared by the forms of an algorithm
  /// Bytes per payload byte on every edge that carries any, ascending; for pictures, where the
  /// router keeps loads.
  std::vector<std::pair<EdgeId, double>> carried;
};

/// How long one payload byte keeps an edge busy, all sister groups together and all stages added
/// up: the load vector over the capacity that the form's protocol reaches there.
struct EdgeTime {
  EdgeId edge; // of edges that carry the same in like nodes, the first stands for all
  SecondsPerByte busy;
};
[[nodiscard]] std::vector<EdgeTime> edge_times(const CollectiveForm& form, const LinkGraph& graph);

struct CollectiveTime {
  Seconds time;
  Seconds latency; // launch and steps
  Seconds steady;  // the payload over the busiest edges
  const CollectiveForm* form = nullptr;
  std::optional<EdgeId> binding; // edge that sets the steady rate
};

/// An algorithm: one file, one line in collective_algorithms(). Returns no form where it does not
/// apply.
struct CollectiveAlgorithm {
  std::string_view name;
  /// A candidate of the automatic choice for this kind? The others run on request.
  bool (*automatic)(CollectiveKind);
  std::vector<CollectiveForm> (*forms)(const LinkGraph&, Router&, CollectiveKind, GroupFamily);
};
[[nodiscard]] const std::vector<CollectiveAlgorithm>& collective_algorithms();
inline constexpr std::string_view automatic_choice = "auto";

/// All forms of the automatic algorithms, or of the one that is named; computed once per (kind,
/// family), cheap to time afterwards.
[[nodiscard]] std::vector<CollectiveForm>
collective_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family,
                 std::string_view algorithm = automatic_choice);

[[nodiscard]] CollectiveTime time_of(const CollectiveForm& form, Bytes payload,
                                     const LinkGraph& graph, const ResourceScale& scale = {});
/// The fastest form; of algorithms that the library believes something of, only the one that it
/// expects to be the fastest is taken. A group of one takes no time.
[[nodiscard]] CollectiveTime fastest(const std::vector<CollectiveForm>& forms, Bytes payload,
                                     const LinkGraph& graph, const ResourceScale& scale = {});

/// Bus bandwidth of nccl-tests: algbw · 2(n−1)/n for all-reduce, (n−1)/n for gather, scatter and
/// all-to-all, 1 for broadcast, reduce and send_recv.
[[nodiscard]] BytesPerSecond bus_bandwidth(CollectiveKind kind, int ranks, Bytes payload,
                                           Seconds time);

} // namespace clustersim
