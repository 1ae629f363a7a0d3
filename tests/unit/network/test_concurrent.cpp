// Sister groups that start together, by the fluid law.

#include "network/concurrent.hpp"

#include "network/layout.hpp"
#include "support.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::testing;
using test::close_to;

namespace {

constexpr Bytes payload{1e9};

struct Question {
  LinkGraph graph;
  Router router;
  GroupFamily family;
  Question(const Cluster& machine, GroupFamily groups)
      : graph(build_link_graph(machine)), router(graph), family(groups) {}

  CollectiveForm together(const char* algorithm, CollectiveKind kind) {
    return forms_by(algorithm, graph, router, kind, family).front();
  }
};

/// Four chips, links between the pairs 0-1 (two) and 2-3 (one).
Node unlike_pairs() {
  Node node = pcie_node(true);
  node.id = "pairs";
  node.scale_up.shape = "explicit";
  node.scale_up.link = link("nvlink", nvlink_rate);
  node.scale_up.links_per_chip = 2;
  node.scale_up.edges = {"0-1 x2", "2-3"};
  return node;
}

} // namespace

TEST_CASE("groups that lie alike take what their added loads take") {
  // Eight groups of two, one chip in each of two nodes: each has a card of its own.
  for (const int groups : {1, 2, 8}) {
    Question q(cluster(switched_node(), 2, fabric("single-switch")), {2, 1, groups, 1, 8});
    const CollectiveForm form = q.together("ring", CollectiveKind::all_gather);
    ConcurrentGroups all(q.graph, q.router, CollectiveKind::all_gather, q.family);
    const auto shared = all.transfer(form, payload);
    REQUIRE(shared);
    CHECK(shared->slowest == close_to(busiest(form) * payload));
    CHECK(shared->fastest == shared->slowest);
    CHECK(shared->groups == 1);
  }
}

TEST_CASE("groups behind one card share it") {
  Node node = switched_node();
  node.nics.count = 2;
  node.host.chips_per_switch = 4;
  Question alone(cluster(node, 2, fabric("single-switch")), {2, 1, 1, 1, 8});
  Question crowd(cluster(node, 2, fabric("single-switch")), {2, 1, 8, 1, 8});
  const auto time = [](Question& q) {
    const CollectiveForm form = q.together("ring", CollectiveKind::all_gather);
    ConcurrentGroups all(q.graph, q.router, CollectiveKind::all_gather, q.family);
    return *all.transfer(form, payload);
  };
  const SharedTransfer one = time(alone), eight = time(crowd);
  CHECK(eight.slowest == close_to(4.0 * one.slowest)); // four to a card
  CHECK(eight.groups == 4);
  REQUIRE(eight.edge);
  CHECK(crowd.graph.edge_name(*eight.edge).find("nic") != std::string::npos);
}

TEST_CASE("a group with more links ends first, and the slowest sets the time") {
  Question q(cluster(unlike_pairs()), {2, 1, 2, 2, 4});
  const CollectiveForm form = q.together("ring", CollectiveKind::all_gather);
  ConcurrentGroups pairs(q.graph, q.router, CollectiveKind::all_gather, q.family);
  const auto shared = pairs.transfer(form, payload);
  REQUIRE(shared);
  CHECK(shared->slowest == close_to(0.5 * payload / BytesPerSecond{nvlink_rate})); // half a buffer
  CHECK(shared->fastest == close_to(0.5 * shared->slowest));
  CHECK(shared->groups == 1);
}

TEST_CASE("later groups of a family are those of its numbering") {
  Question q(cluster(switched_node(), 2, fabric("single-switch")), {2, 1, 8, 1, 8});
  GroupFamily third = q.family;
  third.first_group = 3;
  third.groups = 1;
  const Layout layout(q.graph, q.router, third);
  REQUIRE(layout.groups() == 1);
  for (const Segment& segment : layout.group(0))
    CHECK(layout.places(segment) == Places{3});
}
