#pragma once
// What an algorithm puts on the graph, before a protocol is chosen: bytes per payload byte on every
// directed edge with all sister groups running at once, and the chain of steps that no message can
// shorten. forms_of() turns it into one closed form per protocol.

#include "network/collective.hpp"
#include "network/link_rings.hpp"

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace clustersim {

/// Steps taken one after another between two ranks.
struct SerialHop {
  RankId from, to;
  double steps = 0.0;      // each costs the step of the slowest link class on the route
  double traversals = 0.0; // each costs the latencies of the route's edges
};

/// Bytes per payload byte on every edge, apart by how they are driven: a protocol drives each link
/// class at its own share of what the edges carry, and peers across a root complex at less.
class LoadVector {
public:
  explicit LoadVector(const LinkGraph& graph)
      : by_driver_(2 * graph.link_classes().size()), edges_(graph.edges().size()) {}
  void add(LinkClassId transport, EdgeId edge, double bytes, bool through_root = false) {
    std::vector<double>& load = by_driver_[2 * transport.at() + (through_root ? 1 : 0)];
    if (load.empty()) load.assign(edges_, 0.0);
    load[edge.at()] += bytes;
  }
  /// Empty when nothing was moved so.
  [[nodiscard]] const std::vector<double>& of(LinkClassId transport, bool through_root) const {
    return by_driver_[2 * transport.at() + (through_root ? 1 : 0)];
  }
  [[nodiscard]] bool moves(LinkClassId transport) const {
    return !of(transport, false).empty() || !of(transport, true).empty();
  }
  /// Of all drivers together.
  [[nodiscard]] double at(EdgeId edge) const {
    double sum = 0.0;
    for (const std::vector<double>& load : by_driver_)
      sum += load.empty() ? 0.0 : load[edge.at()];
    return sum;
  }

private:
  std::vector<std::vector<double>> by_driver_;
  std::size_t edges_ = 0;
};

struct Traffic {
  explicit Traffic(const LinkGraph& graph) : load(graph) {}
  LoadVector load;
  std::vector<SerialHop> serial; // of the slowest group
  double local = 0.0;            // own bytes copied or reduced, per payload byte
  std::map<std::vector<std::uint32_t>, std::vector<Cycle>> cycles; // by shape and places in it
  int most_in_node = 0; // ranks at work in the fullest node, of all groups together
};

/// The ranks of every sister group, in ascending order. Groups tile the world: base ranks are the
/// first `stride` ranks of each tile of size · stride (of a block in place of the size, where there
/// are blocks). Ranks beyond the last whole tile stay idle.
class GroupRange {
public:
  GroupRange(const LinkGraph& graph, GroupFamily family);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::vector<RankId> members(std::size_t group) const;

private:
  GroupFamily family_;
  std::size_t count_ = 0;
  std::size_t block_ = 1, extent_ = 1, block_stride_ = 1; // a block's ranks, chips, distance
  std::size_t first_ = 0;
  std::size_t span_ = 1, per_span_ = 1; // chips from first to last of a group, groups in them
};

/// Ranks of all groups in the node that holds most of them.
[[nodiscard]] int most_in_node(const LinkGraph& graph, const GroupRange& groups);

/// A group's members in one node: members[begin .. end).
struct NodeSegment {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};
[[nodiscard]] std::vector<NodeSegment> node_segments(const LinkGraph& graph,
                                                     const std::vector<RankId>& members);
/// The same number of members in each node of the group?
[[nodiscard]] bool even(const std::vector<NodeSegment>& segments);

void add_flow(Traffic& traffic, Router& router, RankId from, RankId to, double bytes);

/// Links that the members of a segment have of their own to each other, in units of the thinnest.
[[nodiscard]] LinkMatrix own_links(const LinkGraph& graph, const std::vector<RankId>& members,
                                   NodeSegment segment);

/// Each member of a segment sends `bytes` to its fellows: all of them to the next in rank order,
/// evenly to every one (the average over all rings that a full mesh carries side by side), or along
/// the rings that are packed into its links.
enum class RingOrder { by_rank, spread, packed };
[[nodiscard]] const std::vector<Cycle>& cycles_of(Traffic& traffic, const LinkGraph& graph,
                                                  const std::vector<RankId>& members,
                                                  NodeSegment segment);
void add_ring(Traffic& traffic, const LinkGraph& graph, Router& router,
              const std::vector<RankId>& members, NodeSegment segment, double bytes,
              RingOrder order);
/// Spreading helps only where chips have links of their own to several fellows, packing where not
/// all of them have the same.
[[nodiscard]] std::vector<RingOrder> ring_orders(const LinkGraph& graph,
                                                 const std::vector<RankId>& members);

/// A protocol by name, and the one used by link classes that have none of that name.
struct ProtocolChoice {
  std::string name;
  std::string fallback;
  bool tree = false; // ranks feed several others, which costs a share of the bandwidth
};
/// The protocols of a family of algorithms that the graph's links know. Ring and tree: all but
/// "in-switch" and those that begin with "direct".
[[nodiscard]] std::vector<ProtocolChoice> ring_protocols(const LinkGraph& graph, bool tree = false);

/// One form per protocol.
[[nodiscard]] std::vector<CollectiveForm> forms_of(const LinkGraph& graph, Router& router,
                                                   std::string_view algorithm,
                                                   const Traffic& traffic,
                                                   const std::vector<ProtocolChoice>& protocols);

} // namespace clustersim
