// Classes of like nodes carry what every pair of ranks, taken one by one, puts on the graph.

#include "network/algorithms.hpp"
#include "network/exchange.hpp"
#include "network/node_rings.hpp"
#include "network/node_trees.hpp"

#include "support.hpp"

#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

using namespace clustersim;
using namespace clustersim::test;
using namespace clustersim::testing;

namespace {

std::vector<RankId> members_of(const Layout& layout, const Router& router, std::size_t group) {
  std::vector<RankId> ranks;
  for (const Segment& segment : layout.group(group)) {
    for (const std::uint32_t place : layout.places(segment))
      ranks.push_back(router.rank(segment.node, place));
  }
  return ranks;
}

/// Loads by edge: flows found one by one between ranks.
class Expanded {
public:
  Expanded(const LinkGraph& graph, Router& router)
      : router_(router), bytes_(graph.edges().size(), 0.0) {}
  void add(RankId from, RankId to, double bytes) {
    router_.for_each_edge(from, to,
                          [&](EdgeId e, double share) { bytes_[e.at()] += bytes * share; });
  }
  void check(const LoadVector& load) const {
    std::size_t loaded = 0, covered = 0;
    for (const double bytes : bytes_)
      loaded += bytes > 0.0 ? 1 : 0;
    for (const LoadVector::Row& row : load.rows) {
      double sum = 0.0;
      for (const double bytes : row.bytes)
        sum += bytes;
      CHECK(sum == close_to(bytes_[row.edge.at()]));
      covered += row.alike;
    }
    CHECK(covered == loaded);
  }

private:
  Router& router_;
  std::vector<double> bytes_;
};

struct Machine {
  const char* name;
  Cluster cluster;
  std::vector<GroupFamily> families;
};

std::vector<Machine> machines() {
  Fabric pods = fabric("fat-tree");
  pods.nodes_per_leaf = 2;
  pods.leaves_per_group = 2;
  pods.group_oversubscription = 2.0;
  Fabric listed = fabric("explicit");
  listed.edges = {"node0-left", "node1-left", "node2-right", "node3-right", "left-right x2"};
  Node shared = switched_node();
  shared.nics.count = 4;
  shared.host.chips_per_switch = 2;
  Node staged = pcie_node(false);
  staged.nics.count = 1;
  Fabric leaves = fabric("fat-tree"); // of three nodes: the middle one has nodes of both parts
  leaves.nodes_per_leaf = 3;
  Node small = pcie_node(true);
  small.nics.count = 2;
  small.nics.link = link("slow nic", nic_rate / 4, 0.7e-6);
  Node bare = switched_node();
  bare.scale_up.shape = "none"; // eight chips too, but on PCIe
  bare.nics.count = 1;
  const Partition fast{switched_node(), 4, fabric("rail-optimized")};
  const std::vector<GroupFamily> eights{{72, 1}, {8, 1}, {9, 8}, {36, 2}, {18, 1, 0, 2, 8}, {6, 1}};
  return {{"rails", cluster(switched_node(), 9, fabric("rail-optimized")), eights},
          {"pods", cluster(shared, 9, pods), eights},
          {"one switch", cluster(staged, 6, fabric("single-switch")), {{24, 1}, {6, 4}, {4, 1}}},
          {"two sizes on one fabric",
           joined({{switched_node(), 4, fabric("none")}, {small, 5, fabric("none")}}, leaves),
           {{52, 1}, {8, 1, 0, 0, 0, 0, 32}, {4, 1, 0, 0, 0, 32, 20}, {8, 4, 0, 0, 0, 0, 32}}},
          {"two kinds on one fabric",
           joined({{switched_node(), 4, fabric("none")}, {bare, 5, fabric("none")}}, leaves),
           {{72, 1}, {8, 1}, {9, 8}, {18, 1, 0, 2, 8}, {8, 1, 0, 0, 0, 32, 40}}},
          {"fabrics of their own",
           joined({fast, {bare, 5, fabric("single-switch")}}, fabric("single-switch")),
           {{72, 1}, {8, 1}, {9, 8}, {36, 2}}},
          {"listed", cluster(switched_node(), 4, listed), {{32, 1}, {4, 8}, {12, 1}}}};
}

/// Every family of groups on every machine.
template <class Check>
void for_each_layout(const Check& check) {
  for (const Machine& machine : machines()) {
    const LinkGraph graph = build_link_graph(machine.cluster);
    for (const GroupFamily family : machine.families) {
      INFO(machine.name << ", " << family.size << " by " << family.stride);
      Router router(graph);
      const Layout layout(graph, router, family);
      check(graph, router, layout);
    }
  }
}

} // namespace

TEST_CASE("an exchange of classes is an exchange of ranks") {
  for_each_layout([](const LinkGraph& graph, Router& router, const Layout& layout) {
    Traffic traffic(graph, router, layout);
    Exchange exchange(graph, traffic, layout, Peers::all);
    Expanded expanded(graph, router);
    for (std::size_t i = 0; i < layout.groups(); ++i) {
      exchange.add(layout.group(i), 0.5);
      const std::vector<RankId> members = members_of(layout, router, i);
      for (const RankId a : members) {
        for (const RankId b : members)
          expanded.add(a, b, 0.5);
      }
    }
    expanded.check(traffic.settled());
  });
}

TEST_CASE("a shift of classes is a shift of ranks, and so are trees") {
  for_each_layout([](const LinkGraph& graph, Router& router, const Layout& layout) {
    Traffic shifted(graph, router, layout), grown(graph, router, layout);
    Shift shift(shifted, layout);
    NodeTrees trees(grown, layout);
    Expanded by_shift(graph, router), by_trees(graph, router);
    for (std::size_t i = 0; i < layout.groups(); ++i) {
      const std::span<const Segment> group = layout.group(i);
      shift.add(group, 2.0);
      const std::vector<RankId> members = members_of(layout, router, i);
      for (std::size_t k = 0; k < members.size(); ++k)
        by_shift.add(members[k], members[(k + 1) % members.size()], 2.0);
      if (group.size() < 2 || !layout.even(group)) continue;
      trees.add(group, 2.0, TreeWay::up);
      const std::size_t g = layout.size(group.front()), n = group.size();
      for (std::size_t node = 1; node < n; ++node) {
        const auto parent =
            static_cast<std::size_t>(tree_parent(static_cast<int>(node), static_cast<int>(n)));
        for (std::size_t r = 0; r < g; ++r) {
          const auto mirrored = [&](std::size_t k) { return n % 2 == 0 ? n - 1 - k : (k + 1) % n; };
          by_trees.add(members[node * g + r], members[parent * g + r], 1.0);
          by_trees.add(members[mirrored(node) * g + r], members[mirrored(parent) * g + r], 1.0);
        }
      }
    }
    by_shift.check(shifted.settled());
    by_trees.check(grown.settled());
  });
}

TEST_CASE("nodes that are not stored read as those that are, shifted") {
  const Cluster machine = cluster(switched_node(), 9, fabric("rail-optimized"));
  const LinkGraph graph = build_link_graph(machine);
  CHECK(graph.nodes().size() == 9);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const NodeBlock& block = graph.nodes()[n];
    for (std::size_t v = 0; v < static_cast<std::size_t>(block.vertices); ++v) {
      const Vertex vertex = graph.vertex(VertexId{block.first_vertex.at() + v});
      CHECK(vertex.node == static_cast<int>(n));
      CHECK(vertex.name.starts_with("node" + std::to_string(n) + "/"));
    }
  }
  // Each edge leaves and enters the vertices that name it, once.
  std::vector<int> left(graph.edges().size(), 0), entered(graph.edges().size(), 0);
  for (std::size_t v = 0; v < graph.vertices().size(); ++v) {
    for (const EdgeId e : graph.out_edges(VertexId{v})) {
      CHECK(graph.edge(e).from == VertexId{v});
      ++left[e.at()];
    }
    for (const EdgeId e : graph.in_edges(VertexId{v})) {
      CHECK(graph.edge(e).to == VertexId{v});
      ++entered[e.at()];
    }
  }
  for (std::size_t e = 0; e < left.size(); ++e) {
    CHECK(left[e] == 1);
    CHECK(entered[e] == 1);
  }
}
