#include "network/routing.hpp"

#include "base/bug.hpp"
#include "support.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace clustersim;
using clustersim::test::close_to;
using namespace clustersim::testing;

namespace {

/// What enters each vertex minus what leaves it.
std::map<VertexId, double> balance(const LinkGraph& graph, Router& router, RankId from, RankId to) {
  std::map<VertexId, double> net;
  router.for_each_edge(from, to, [&](EdgeId id, double share) {
    net[graph.edges()[id.at()].from] -= share;
    net[graph.edges()[id.at()].to] += share;
  });
  return net;
}

void check_conservation(const LinkGraph& graph) {
  Router router(graph);
  for (std::size_t a = 0; a < graph.chips().size(); ++a) {
    for (std::size_t b = 0; b < graph.chips().size(); ++b) {
      if (a == b) continue;
      for (const auto& [vertex, net] : balance(graph, router, RankId{a}, RankId{b})) {
        const double expected = vertex == graph.chips()[a]   ? -1.0
                                : vertex == graph.chips()[b] ? 1.0
                                                             : 0.0;
        CHECK(net == close_to(expected));
      }
    }
  }
}

} // namespace

TEST_CASE("equal paths share the traffic evenly, longer ones get none") {
  LinkGraph graph;
  const LinkClassId wire = graph.add_link_class(link("wire", 1.0));
  const auto add = [&](const char* name) { return graph.add_vertex({VertexKind::leaf, name}); };
  const VertexId a = add("a"), upper = add("upper"), lower = add("lower"), slow = add("slow"),
                 b = add("b");
  for (const VertexId middle : {upper, lower, slow}) {
    const Seconds latency{middle == slow ? 2e-6 : 1e-6};
    graph.add_duplex(a, middle, BytesPerSecond{1.0}, latency, wire);
    graph.add_duplex(middle, b, BytesPerSecond{1.0}, latency, wire);
  }
  Router router(graph);
  const Route& route = router.route(a, b);
  CHECK(route.hops == 2);
  CHECK(route.latency.si() == close_to(2e-6));
  REQUIRE(route.edges.size() == 4);
  for (const EdgeShare& e : route.edges) {
    CHECK(e.share == close_to(0.5));
    CHECK(graph.edges()[e.edge.at()].to != slow);
  }
}

TEST_CASE("no path is a bug that names both ends") {
  LinkGraph graph;
  const VertexId a = graph.add_vertex({VertexKind::leaf, "here"});
  const VertexId b = graph.add_vertex({VertexKind::leaf, "there"});
  Router router(graph);
  CHECK_THROWS_WITH_AS(static_cast<void>(router.route(a, b)), "no path from here to there", Bug);
  CHECK(router.route(a, a).edges.empty());
}

TEST_CASE("what enters a vertex on the way leaves it") {
  Node shared_nics = switched_node();
  shared_nics.host.chips_per_switch = 2;
  shared_nics.nics.count = 4;
  Node two_each = switched_node();
  two_each.nics.count = 16;
  for (const Node& node : {switched_node(), shared_nics, two_each}) {
    for (const char* shape : {"rail-optimized", "fat-tree", "single-switch"}) {
      INFO(node.nics.count << " NICs, " << shape);
      check_conservation(build_link_graph(cluster(node, 5, fabric(shape))));
    }
  }
  check_conservation(build_link_graph(cluster(pcie_node(false))));
}

TEST_CASE("nodes that hang at the same switches are interchangeable") {
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 8, fabric("rail-optimized")));
  Router router(graph);
  for (std::size_t from = 0; from < 8; ++from) {
    for (std::size_t to = 0; to < 8; ++to) {
      const RoutePattern& first = router.pattern(RankId{from}, RankId{8 + to});
      const RoutePattern& other = router.pattern(RankId{16 + from}, RankId{24 + to});
      CHECK(&first == &other); // one table entry serves both
      const Route& checked =
          router.route(graph.chips()[from], graph.chips()[8 + to]); // searched anew
      if (from == to) {
        CHECK(first.hops == checked.hops);
        CHECK(first.latency.si() == close_to(checked.latency.si()));
      }
    }
  }
}

TEST_CASE("traffic for another rail takes the peer's NIC when that is no longer than the spine") {
  Fabric slow_spine = fabric("rail-optimized");
  slow_spine.switch_latency = Seconds{5e-6};
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 2, slow_spine));
  Router router(graph);
  bool spine = false, scale_up = false;
  router.for_each_edge(RankId{0}, RankId{8 + 3}, [&](EdgeId id, double) {
    const Edge& edge = graph.edges()[id.at()];
    spine = spine || graph.vertices()[edge.to.at()].kind == VertexKind::spine;
    scale_up = scale_up || graph.vertices()[edge.to.at()].kind == VertexKind::scale_up_switch;
  });
  CHECK_FALSE(spine);
  CHECK(scale_up);
}

TEST_CASE("chips with scale-up links never talk over PCIe, however quick it is") {
  Node node = switched_node();
  node.host.chips_per_switch = 8;
  node.host.pcie.latency = Seconds{1e-9};
  const LinkGraph graph = build_link_graph(cluster(node));
  Router router(graph);
  router.for_each_edge(RankId{0}, RankId{1}, [&](EdgeId id, double) {
    CHECK(graph.link_classes()[graph.edges()[id.at()].link_class.at()].id == "nvlink");
  });
}

TEST_CASE("the transport is what drives the data end to end") {
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 2, fabric("single-switch")));
  Router router(graph);
  const auto name = [&](std::size_t a, std::size_t b) {
    return graph.link_classes()[router.pattern(RankId{a}, RankId{b}).transport.at()].id;
  };
  CHECK(name(0, 1) == "nvlink");
  CHECK(name(0, 8) == "nic");
  const LinkGraph plain = build_link_graph(cluster(pcie_node(true)));
  Router plain_router(plain);
  CHECK(plain.link_classes()[plain_router.pattern(RankId{0}, RankId{1}).transport.at()].id ==
        "pcie");
  const LinkGraph staged = build_link_graph(cluster(pcie_node(false)));
  Router staged_router(staged);
  CHECK(staged.link_classes()[staged_router.pattern(RankId{0}, RankId{1}).transport.at()].id ==
        "memory");
}

TEST_CASE("a graph written out by hand works when its chips forward") {
  LinkGraph graph; // a ring of six
  const LinkClassId wire = graph.add_link_class(link("wire", 1e9, 1e-6));
  for (int i = 0; i < 6; ++i)
    graph.add_vertex({VertexKind::chip, "chip" + std::to_string(i)});
  for (std::size_t i = 0; i < 6; ++i) {
    graph.add_duplex(graph.chips()[i], graph.chips()[(i + 1) % 6], BytesPerSecond{1e9},
                     Seconds{1e-6}, wire);
  }
  Router router(graph);
  CHECK(router.pattern(RankId{0}, RankId{2}).hops == 2);
  CHECK(router.pattern(RankId{0}, RankId{3}).hops_taken.size() == 6); // both ways round
  const auto forms = forms_by("ring", graph, router, CollectiveKind::all_reduce, {6, 1});
  CHECK(busiest(forms.at(0)).si() == close_to(2.0 * 5 / 6 / 1e9));
}
