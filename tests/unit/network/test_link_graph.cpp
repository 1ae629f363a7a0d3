#include "network/link_graph.hpp"

#include "base/bug.hpp"
#include "network/routing.hpp"
#include "support.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using clustersim::test::close_to;
using namespace clustersim::testing;

namespace {

std::size_t count(const LinkGraph& graph, VertexKind kind) {
  return static_cast<std::size_t>(std::count_if(graph.vertices().begin(), graph.vertices().end(),
                                                [&](const Vertex& v) { return v.kind == kind; }));
}

std::vector<std::string> names_on(const LinkGraph& graph, const Route& route) {
  std::vector<std::string> names;
  for (const EdgeShare& e : route.edges)
    names.push_back(graph.edge_name(e.edge));
  return names;
}

bool passes(const LinkGraph& graph, const Route& route, VertexKind kind) {
  return std::any_of(route.edges.begin(), route.edges.end(), [&](const EdgeShare& e) {
    return graph.vertices()[graph.edges()[e.edge.at()].to.at()].kind == kind;
  });
}

} // namespace

TEST_CASE("a rail-optimised cluster has a leaf for every NIC of a unit and one spine vertex") {
  const int nodes = 6; // two units of up to four
  const LinkGraph graph =
      build_link_graph(cluster(switched_node(), nodes, fabric("rail-optimized")));
  CHECK(graph.chips().size() == std::size_t{8 * nodes});
  CHECK(count(graph, VertexKind::leaf) == 2 * 8);
  CHECK(count(graph, VertexKind::spine) == 1);
  CHECK(count(graph, VertexKind::nic) == 8 * nodes);
  CHECK(count(graph, VertexKind::root_complex) == 2 * nodes);
  CHECK(graph.nodes().size() == std::size_t{nodes});
  CHECK(graph.nodes()[3].group == graph.nodes()[0].group);
  CHECK(graph.nodes()[4].group != graph.nodes()[0].group);
}

TEST_CASE("a leaf sends up what its NICs send, divided by the oversubscription") {
  Fabric between = fabric("rail-optimized");
  between.oversubscription = 4.0;
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 8, between));
  int uplinks = 0;
  for (const Edge& edge : graph.edges()) {
    if (graph.vertices()[edge.to.at()].kind != VertexKind::spine) continue;
    ++uplinks;
    CHECK(edge.capacity.si() == close_to(between.nodes_per_leaf * nic_rate / 4.0));
  }
  CHECK(uplinks == 16);
}

TEST_CASE("each NIC serves the chips nearest to it") {
  Node node = switched_node();
  node.host.chips_per_switch = 4;
  node.nics.count = 2;
  const LinkGraph graph = build_link_graph(cluster(node, 2, fabric("single-switch")));
  Router router(graph);
  for (std::size_t chip = 0; chip < 8; ++chip) {
    const std::string nic = chip < 4 ? "node0/nic0 -> switch" : "node0/nic1 -> switch";
    const auto& all = router.pattern(RankId{chip}, RankId{8 + chip}).hops_taken;
    std::vector<std::string> names;
    for (const auto& hop : all) {
      if (hop.base == RoutePattern::Base::source)
        names.push_back(graph.edge_name(EdgeId{graph.nodes()[0].first_edge.at() + hop.offset}));
    }
    CHECK(std::count(names.begin(), names.end(), nic) == 1);
  }
}

TEST_CASE("without peer access chips meet in host memory only") {
  const LinkGraph direct = build_link_graph(cluster(pcie_node(true)));
  const LinkGraph staged = build_link_graph(cluster(pcie_node(false)));
  Router direct_router(direct), staged_router(staged);
  const Route& a = direct_router.route(direct.chips()[0], direct.chips()[1]);
  const Route& b = staged_router.route(staged.chips()[0], staged.chips()[1]);
  CHECK_FALSE(passes(direct, a, VertexKind::host_memory));
  CHECK(passes(staged, b, VertexKind::host_memory));
  CHECK(names_on(staged, b) == std::vector<std::string>{"node0/gpu0 -> node0/root0.up",
                                                        "node0/root0.up -> node0/memory0",
                                                        "node0/memory0 -> node0/root0.down",
                                                        "node0/root0.down -> node0/gpu1"});
}

TEST_CASE("without GPUDirect a NIC reads from host memory") {
  for (const bool gpu_direct : {true, false}) {
    Node node = switched_node();
    node.nics.gpu_direct = gpu_direct;
    const LinkGraph graph = build_link_graph(cluster(node, 2, fabric("single-switch")));
    Router router(graph);
    const Route& route = router.route(graph.chips()[0], graph.chips()[8]);
    CHECK(passes(graph, route, VertexKind::host_memory) == !gpu_direct);
  }
}

TEST_CASE("a staged byte uses host memory twice, so each direction has half of its rate") {
  const LinkGraph graph = build_link_graph(cluster(pcie_node(false)));
  for (const Edge& edge : graph.edges()) {
    if (graph.vertices()[edge.to.at()].kind != VertexKind::host_memory) continue;
    CHECK(edge.capacity.si() == close_to(memory_rate / 2));
  }
}

TEST_CASE("scale-up shapes join the chips they name") {
  Node node = switched_node();
  node.scale_up.shape = "mesh";
  const LinkGraph mesh = build_link_graph(cluster(node));
  const Edge& pair = mesh.edges().front();
  CHECK(pair.capacity.si() == close_to(nvlinks / 7.0 * nvlink_rate));
  node.scale_up.shape = "bridged";
  const LinkGraph pairs = build_link_graph(cluster(node));
  Router router(pairs);
  CHECK(router.route(pairs.chips()[2], pairs.chips()[3]).hops == 1);
  CHECK(router.route(pairs.chips()[1], pairs.chips()[2]).hops > 1);
}

TEST_CASE("impossible edges and shapes are bugs that say what is wrong") {
  LinkGraph graph;
  const LinkClassId wire = graph.add_link_class(link("wire", 1.0));
  const VertexId a = graph.add_vertex({VertexKind::leaf, "a"});
  const VertexId b = graph.add_vertex({VertexKind::leaf, "b"});
  CHECK_THROWS_AS(graph.add_edge(a, b, BytesPerSecond{0.0}, Seconds{}, wire), Bug);
  CHECK_THROWS_AS(graph.add_edge(a, b, BytesPerSecond{-1.0}, Seconds{}, wire), Bug);
  CHECK_THROWS_AS(graph.add_edge(a, a, BytesPerSecond{1.0}, Seconds{}, wire), Bug);
  CHECK_THROWS_AS(static_cast<void>(build_link_graph(cluster(switched_node(), 2))), Bug);
  CHECK_THROWS_AS(
      static_cast<void>(build_link_graph(cluster(switched_node(), 2, fabric("moebius")))), Bug);
}

TEST_CASE("the tables name every shape once") {
  for (const auto& names : {node_shapes(), fabric_shapes()}) {
    auto sorted = names;
    std::sort(sorted.begin(), sorted.end());
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    CHECK(std::find(names.begin(), names.end(), "none") != names.end());
  }
}
