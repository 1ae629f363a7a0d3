// Collectives against their closed forms, written from the data of a machine with round figures
// (docs/explanation/collectives.md, "Algorithms").

#include "support/close_to.hpp"
#include "unit/network/support.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace clustersim;
using namespace clustersim::test;
using namespace clustersim::testing;

namespace {

const double payload = 1e9;
const double launch = 5e-6, step = 0.5e-6, fill = 3e-6;        // of NVLink
const double far_launch = 8e-6, far_step = 4e-6, far_fill = 0; // of the NICs
const double port = nvlinks * nvlink_rate;
const double hop = 2 * 0.1e-6; // chip, switch, chip

Node timed_node() {
  Node node = switched_node();
  node.scale_up.link.protocols = {protocol("bulk", launch, step, 1.0, fill)};
  node.nics.link.protocols = {protocol("bulk", far_launch, far_step, 1.0, far_fill)};
  node.nics.link.protocols.front().tree_fraction = 1.0;
  node.scale_up.link.protocols.front().tree_fraction = 1.0;
  return node;
}

Cluster rails(const Node& node, int nodes) {
  Fabric between = fabric("rail-optimized");
  between.link = node.nics.link;
  return cluster(node, nodes, between);
}

double seconds(const std::string& algorithm, const Cluster& machine, CollectiveKind kind,
               GroupFamily family) {
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  const auto forms = forms_by(algorithm, graph, router, kind, family);
  REQUIRE_FALSE(forms.empty());
  return fastest(forms, Bytes{payload}, graph).time.si();
}

double latency(Router& router, std::size_t from, std::size_t to) {
  return router.pattern(RankId{from}, RankId{to}).latency.si();
}

} // namespace

TEST_CASE("ring in a node: launch + 2(n-1) steps + 2(n-1)/n of the payload through each port") {
  const double n = 8, steady = 2 * (n - 1) / n * payload / port;
  CHECK(seconds("ring", cluster(timed_node()), CollectiveKind::all_reduce, {8, 1}) ==
        close_to(launch + 2 * (n - 1) * (step + hop) + steady + std::sqrt(fill * steady)));
  const double half = steady / 2;
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    CHECK(seconds("ring", cluster(timed_node()), kind, {8, 1}) ==
          close_to(launch + (n - 1) * (step + hop) + half + std::sqrt(fill * half)));
  }
  const double whole = payload / port;
  for (const auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    CHECK(seconds("ring", cluster(timed_node()), kind, {8, 1}) ==
          close_to(launch + (n - 1) * (step + hop) + whole + std::sqrt(fill * whole)));
  }
}

TEST_CASE("halving and doubling: launch + 2 log2(n) steps + 2(n-1)/n of the payload") {
  const double n = 8, steady = 2 * (n - 1) / n * payload / port;
  CHECK(seconds("halving-doubling", cluster(timed_node()), CollectiveKind::all_reduce, {8, 1}) ==
        close_to(launch + 2 * std::log2(n) * (step + hop) + steady + std::sqrt(fill * steady)));
  CHECK(seconds("halving-doubling", cluster(timed_node()), CollectiveKind::all_gather, {8, 1}) ==
        close_to(launch + std::log2(n) * (step + hop) + steady / 2 + std::sqrt(fill * steady / 2)));
}

TEST_CASE("halving and doubling across nodes: near steps by NVLink, far ones after them by NIC") {
  const Cluster machine = rails(timed_node(), 4);
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  const double near = 2 * (1.0 / 2 + 1.0 / 4 + 1.0 / 8) * payload / port;
  const double far = 2 * (1.0 / 16 + 1.0 / 32) * payload / nic_rate;
  const double steps = 2 * 3 * (step + hop) + 2 * (far_step + latency(router, 0, 8)) +
                       2 * (far_step + latency(router, 0, 16));
  CHECK(seconds("halving-doubling", machine, CollectiveKind::all_reduce, {32, 1}) ==
        close_to(far_launch + steps + near + far + std::sqrt(fill * (near + far))));
}

TEST_CASE("halving and doubling takes powers of two only") {
  Node six = timed_node();
  six.chips = 6;
  const LinkGraph graph = build_link_graph(cluster(six));
  Router router(graph);
  CHECK(forms_by("halving-doubling", graph, router, CollectiveKind::all_reduce, {6, 1}).empty());
}

TEST_CASE("tree over single-chip nodes: 2 log2(N) steps, twice the payload through a NIC") {
  Node node = timed_node();
  node.chips = 1;
  node.nics.count = 1;
  const Cluster machine = cluster(node, 16, fabric("single-switch"));
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  const double way = latency(router, 0, 15);
  CHECK(seconds("tree", machine, CollectiveKind::all_reduce, {16, 1}) ==
        close_to(far_launch + 2 * std::log2(16) * (far_step + way) + 2 * payload / nic_rate));
  for (const auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    CHECK(seconds("tree", machine, kind, {16, 1}) ==
          close_to(far_launch + std::log2(16) * (far_step + way) + payload / nic_rate));
  }
}

TEST_CASE("torus: half an axis of steps for each phase, (n-1)/n over all 2K links") {
  Node node = timed_node();
  node.chips = 64;
  node.scale_up.shape = "torus";
  node.scale_up.torus = "4x4x4";
  node.scale_up.links_per_chip = 6;
  const double steady = 2 * 63.0 / 64 * payload / (6 * nvlink_rate);
  const double steps = 2 * 3 * (4 / 2.0);
  CHECK(seconds("torus", cluster(node), CollectiveKind::all_reduce, {64, 1}) ==
        close_to(launch + steps * (step + 0.1e-6) + steady + std::sqrt(fill * steady)));
}

TEST_CASE("multicast: the payload once through every port") {
  Node node = timed_node();
  node.scale_up.in_network_reduction = true;
  node.scale_up.link.protocols.push_back(protocol("in-switch", launch, step, 0.8, 0.0));
  const double steady = payload / (0.8 * port);
  for (const auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce}) {
    CHECK(seconds("multicast", cluster(node), kind, {8, 1}) ==
          close_to(launch + (step + hop) + steady));
  }
}

TEST_CASE("hierarchical all-to-all: (g-1)/g inside, then (N-1)/N on every rail") {
  Node node = timed_node();
  for (std::vector<Protocol>* protocols :
       {&node.scale_up.link.protocols, &node.nics.link.protocols}) {
    protocols->push_back(protocols->front());
    protocols->front().name = "direct-low-latency";
    protocols->back().name = "direct";
  }
  const Cluster machine = rails(node, 4);
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  const double inside = 7.0 / 8 * payload / port, across = 3.0 / 4 * payload / nic_rate;
  CHECK(seconds("hierarchical", machine, CollectiveKind::all_to_all, {32, 1}) ==
        close_to(far_launch + 7 * step + hop + 3 * far_step + latency(router, 0, 8) + inside +
                 across + std::sqrt(fill * (inside + across))));
}

TEST_CASE("all pairs on a mesh: one step for each phase, 1/n of the payload on every link") {
  Node node = timed_node();
  node.scale_up.shape = "mesh";
  node.scale_up.links_per_chip = 7;
  const double wire = 0.1e-6;
  {
    const LinkGraph graph = build_link_graph(cluster(node));
    Router router(graph);
    CHECK(forms_by("all-pairs", graph, router, CollectiveKind::all_gather, {8, 1}).empty());
  }
  node.scale_up.link.protocols.push_back(protocol("all-pairs", launch, step, 1.0, 0.0));
  CHECK(seconds("all-pairs", cluster(node), CollectiveKind::all_gather, {8, 1}) ==
        close_to(launch + step + wire + payload / 8 / nvlink_rate));
  CHECK(seconds("all-pairs", cluster(node), CollectiveKind::all_reduce, {8, 1}) ==
        close_to(launch + 2 * (step + wire) + 2 * payload / 8 / nvlink_rate));
}

TEST_CASE("there is no chunk count: a message in pieces pays for each, and none is free") {
  const LinkGraph graph = build_link_graph(rails(timed_node(), 4));
  Router router(graph);
  for (const auto kind : all_collective_kinds) {
    const auto forms = collective_forms(graph, router, kind, {32, 1});
    REQUIRE_FALSE(forms.empty());
    for (double size = 8; size < 1e11; size *= 3) {
      const double whole = fastest(forms, Bytes{size}, graph).time.si();
      for (const int pieces : {2, 3, 7}) {
        const double piece = fastest(forms, Bytes{size / pieces}, graph).time.si();
        CHECK(pieces * piece >= whole);
        CHECK(piece <= whole);
      }
    }
  }
}
