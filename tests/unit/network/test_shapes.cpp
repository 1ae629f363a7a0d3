// Tori, listed edges, groups of leaves.

#include "network/algorithms.hpp"
#include "network/link_rings.hpp"
#include "spec/check_shapes.hpp"
#include "support.hpp"
#include "support/close_to.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::test;
using clustersim::test::close_to;
using namespace clustersim::testing;

namespace {

Node torus(const std::string& extents, int chips, const std::string& wrap = "all") {
  Node node = switched_node();
  node.chips = chips;
  node.scale_up.shape = "torus";
  node.scale_up.torus = extents;
  node.scale_up.wrap = wrap;
  node.scale_up.links_per_chip =
      2 * static_cast<int>(1 + std::count(extents.begin(), extents.end(), 'x'));
  return node;
}

double rate(const Node& node, CollectiveKind kind, GroupFamily family) {
  const LinkGraph graph = build_link_graph(cluster(node));
  Router router(graph);
  const auto forms = forms_by("torus", graph, router, kind, family);
  REQUIRE_FALSE(forms.empty());
  return busiest(forms.front()).si();
}

// One or two links to four peers each (nvidia-smi topo of a DGX-1 with V100).
Node cube_mesh(int chips) {
  Node node = switched_node();
  node.chips = chips;
  node.scale_up.shape = "explicit";
  node.scale_up.links_per_chip = 6;
  node.scale_up.edges = {"0-1", "0-2", "0-3 x2", "0-4 x2", "1-2 x2", "1-3",    "1-5 x2", "2-3 x2",
                         "2-6", "3-7", "4-5",    "4-6",    "4-7 x2", "5-6 x2", "5-7",    "6-7 x2"};
  return node;
}

} // namespace

TEST_CASE("a torus gathers at (n-1)/n over all of its links, an open line at half of that") {
  const double link = nvlink_rate;
  CHECK(rate(torus("4x4x4", 64), CollectiveKind::all_gather, {64, 1}) ==
        close_to(63.0 / 64 / (6 * link)));
  CHECK(rate(torus("4x4x4", 64), CollectiveKind::all_reduce, {64, 1}) ==
        close_to(2 * 63.0 / 64 / (6 * link)));
  CHECK(rate(torus("4x4", 16, "none"), CollectiveKind::all_gather, {16, 1}) ==
        close_to(2 * 15.0 / 16 / (4 * link)));
  // Groups along one axis, all sixteen at once, have their own rings.
  CHECK(rate(torus("4x4x4", 64), CollectiveKind::all_gather, {4, 16}) ==
        close_to(3.0 / 4 / (2 * link)));
  CHECK(rate(torus("8x8", 64), CollectiveKind::all_to_all, {64, 1}) == close_to(8.0 / 8 / link));
}

TEST_CASE("the cube mesh carries three double rings, its parts as many as were measured") {
  const auto rings = [](int chips) {
    const LinkGraph graph = build_link_graph(cluster(cube_mesh(chips)));
    Router router(graph);
    double best = 1.0;
    for (const auto& form :
         forms_by("ring", graph, router, CollectiveKind::all_reduce, {chips, 1})) {
      best = std::min(best, busiest(form).si());
    }
    return 2.0 * (chips - 1) / chips / best / nvlink_rate; // bus bandwidth in links
  };
  CHECK(rings(8) == close_to(6.0));
  CHECK(rings(4) == close_to(4.0));
  CHECK(rings(3) == close_to(2.0));
  CHECK(rings(2) == close_to(1.0));
}

TEST_CASE("five chips of the cube mesh have no ring: one chain, one link at each step") {
  const LinkGraph graph = build_link_graph(cluster(cube_mesh(5)));
  Router router(graph);
  const auto chain = forms_by("tree", graph, router, CollectiveKind::all_reduce, {5, 1});
  REQUIRE_FALSE(chain.empty());
  CHECK(busiest(chain.front()).si() == close_to(1.0 / nvlink_rate));
}

TEST_CASE("cycles are packed into links, and none where none fits") {
  CHECK(pack_cycles({{0, 2, 2}, {2, 0, 2}, {2, 2, 0}}).size() == 2);
  CHECK(pack_cycles({{0, 1, 0}, {1, 0, 1}, {0, 1, 0}}).empty());
  CHECK(find_path({{0, 1, 0}, {1, 0, 1}, {0, 1, 0}}).size() == 3);
  CHECK(find_path({{0, 1, 0}, {1, 0, 0}, {0, 0, 0}}).empty());
}

TEST_CASE("bad tori and edges are named before a graph is built of them") {
  CHECK(shape_problems(torus("4x4", 16)).empty());
  CHECK(shape_problems(cube_mesh(8)).empty());
  for (const std::string bad : {"", "x", "4x", "0x4", "4x4x4x4", "4x-4", "1048577", "4x5"}) {
    CHECK_FALSE(shape_problems(torus(bad, 16)).empty());
  }
  CHECK_FALSE(shape_problems(torus("4x4", 16, "z")).empty());
  for (const std::string bad : {"", "0", "0-0", "0-1 x0", "0-1 x-2", "0 1", "0-", "-1", "0-1 x7"}) {
    Node node = cube_mesh(8);
    node.scale_up.edges = {bad};
    INFO(bad);
    CHECK_FALSE(shape_problems(node).empty());
  }
  Node twice = cube_mesh(8);
  twice.scale_up.edges = {"0-1", "1-0"};
  CHECK_FALSE(shape_problems(twice).empty());
}

TEST_CASE("a listed fabric must plug in every card once and be connected") {
  Partition partition{switched_node(), 2, fabric("explicit")};
  partition.fabric.edges = {"node0-a", "node1-b", "a-b x4"};
  CHECK(shape_problems(partition).empty());
  Cluster machine;
  machine.partitions = {partition};
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  CHECK(router.pattern(RankId{0}, RankId{8}).hops >= 4); // card, a, b, card
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"node0-a", "node1-b"},
                                              {"node0-a"},
                                              {"node0-a", "node1-a", "node0-a"},
                                              {"node0-a", "node0.nic1-b", "node1-a", "a-b"}}) {
    partition.fabric.edges = bad;
    CHECK_FALSE(shape_problems(partition).empty());
  }
}

TEST_CASE("groups of leaves share their links to the other groups") {
  Fabric pods = fabric("fat-tree");
  pods.nodes_per_leaf = 1;
  pods.leaves_per_group = 2;
  pods.group_oversubscription = 4.0;
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 4, pods));
  Router router(graph);
  CHECK(router.pattern(RankId{0}, RankId{16}).hops ==
        router.pattern(RankId{0}, RankId{8}).hops + 2);
  // Every chip sends to its like two nodes on: sixteen NIC streams leave each group of two leaves.
  const auto forms = forms_by("direct", graph, router, CollectiveKind::send_recv, {2, 16});
  CHECK(busiest(forms.front()).si() == close_to(4.0 / nic_rate));
}
