#pragma once
// What an algorithm puts on the graph, before a protocol is chosen: bytes per payload byte on every
// directed edge with all sister groups running at once, and the chain of steps that no message can
// shorten. forms_of() turns it into one closed form per protocol.
//
// Flows are said from node to node, in bundles between places in them. Nodes that take part in the
// same bundles in the same relations to others carry the same loads on their edges, and so do units
// and pods of the fabric: each such class is worked out once (settled()).

#include "network/collective.hpp"
#include "network/layout.hpp"
#include "network/link_rings.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace clustersim {

/// Steps taken one after another between two ranks.
struct SerialHop {
  RankId from, to;
  double steps = 0.0;      // each costs the step of the slowest link class on the route
  double traversals = 0.0; // each costs the latencies of the route's edges
};

/// Who moves bytes: a protocol drives each link class at its own share of what the edges carry, and
/// peers across a root complex at less.
struct Driver {
  LinkClassId transport;
  bool through_root = false;
  friend auto operator<=>(const Driver&, const Driver&) = default;
};

/// Bytes per payload byte by edge and driver; of edges that carry the same, the first stands for
/// all.
struct LoadVector {
  std::vector<Driver> drivers;
  struct Row {
    EdgeId edge;
    std::vector<double> bytes; // by driver
    std::size_t alike = 1;     // edges that this one stands for, itself included
  };
  std::vector<Row> rows; // by edge, ascending
  [[nodiscard]] bool moves(LinkClassId transport) const;
};

/// A flow between two places, of one node or of two.
struct PlaceFlow {
  std::uint32_t from = 0, to = 0;
  double bytes = 0.0;
};
/// What one edge of a node carries, counted from the node's first.
struct EdgeFlow {
  std::uint32_t edge = 0;
  LinkClassId transport;
  double bytes = 0.0;
};
using BundleId = Index<struct BundleTag>;

class Traffic {
public:
  Traffic(const LinkGraph& graph, Router& router, const Layout& layout)
      : most_in_node(layout.most_in_node()), graph_(&graph), router_(&router) {}

  BundleId bundle(std::vector<PlaceFlow> flows);
  BundleId bundle(std::vector<EdgeFlow> flows); // within a node
  /// A bundle on its way, so many times.
  void move(NodeNumber from, NodeNumber to, BundleId bundle, double times = 1.0);
  /// What a node sends (receives) in bundles to (from) so many nodes that stand to it as the
  /// example does. Each is one side of a flow: say both.
  void send(NodeNumber from, NodeNumber example, BundleId bundle, double times);
  void receive(NodeNumber example, NodeNumber to, BundleId bundle, double times);
  /// Blocks that carry the same as one, or each by itself.
  enum class Blocks { by_class, each };
  [[nodiscard]] LoadVector settled(Blocks blocks = Blocks::by_class) const;

  std::vector<SerialHop> serial; // of the slowest group
  double local = 0.0;            // own bytes copied or reduced, per payload byte
  int most_in_node = 0;          // ranks at work in the fullest node, of all groups together
  [[nodiscard]] Router& router() const { return *router_; }

  /// What a class of bundles in one relation puts on the edges of each base.
  struct Part {
    std::uint32_t edge = 0; // counted from the base's first
    Driver driver;
    double bytes = 0.0;
  };
  struct Flow {
    std::array<std::vector<Part>, RoutePattern::bases> parts;
    double times = 0.0; // of all moves, for edges that belong to no block
  };
  struct Entry {
    std::uint32_t block = 0, part = 0; // part = 2 · flow + (1 at the receiving side)
    double times = 0.0;
  };

private:
  std::size_t flow_of(BundleId bundle, NodeNumber from, NodeNumber to);
  Flow resolved(const std::vector<PlaceFlow>& bundle, RelationId relation) const;
  void enter(NodeNumber node, std::size_t flow, bool receives, double times);

  const LinkGraph* graph_;
  Router* router_;
  struct Bundle {
    std::vector<PlaceFlow> flows;
    std::vector<EdgeFlow> edges;
  };
  std::vector<Bundle> bundles_;
  std::vector<Flow> flows_;
  std::unordered_map<std::uint64_t, std::size_t> flow_ids_; // by bundle and relation
  std::vector<Entry> nodes_, units_, pods_;
  std::vector<std::uint32_t> pod_blocks_; // first edges of the pods met
};

/// Each place of one node to the same place of another's list.
[[nodiscard]] std::vector<PlaceFlow> place_by_place(const Places& from, const Places& to,
                                                    double bytes);
/// Equal for nodes that are the same inside; a chip without a node is a kind of its own.
[[nodiscard]] std::uint32_t kind_of_node(const LinkGraph& graph, NodeNumber node);

/// Nothing where the link has none of that name.
[[nodiscard]] const Protocol* find_protocol(const Link& link, std::string_view name);

/// A protocol by name, and the one used by link classes that have none of that name.
struct ProtocolChoice {
  std::string name;
  std::string fallback;
  bool tree = false; // ranks feed several others, which costs a share of the bandwidth
};
/// The protocols of a family of algorithms that the graph's links know. Ring and tree: all but
/// "in-switch", "all-pairs" and those that begin with "direct".
[[nodiscard]] std::vector<ProtocolChoice> ring_protocols(const LinkGraph& graph, bool tree = false);
[[nodiscard]] std::vector<ProtocolChoice> direct_protocols();

/// One form per protocol. Stages follow one another; within one, all edges work at once.
[[nodiscard]] std::vector<CollectiveForm> forms_of(const LinkGraph& graph,
                                                   std::string_view algorithm,
                                                   std::span<const Traffic> stages,
                                                   const std::vector<ProtocolChoice>& protocols);
[[nodiscard]] inline std::vector<CollectiveForm>
forms_of(const LinkGraph& graph, std::string_view algorithm, const Traffic& only,
         const std::vector<ProtocolChoice>& protocols) {
  return forms_of(graph, algorithm, std::span(&only, 1), protocols);
}

} // namespace clustersim
