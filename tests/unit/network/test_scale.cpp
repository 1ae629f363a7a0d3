// Size: the graph grows with the chips, and so does the work of a collective over all of them.

#include "network/collective.hpp"

#include "support.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;
using namespace clustersim::testing;

TEST_CASE("sixty-five thousand chips") {
  const int nodes = 8192, chips = 8 * nodes;
  Node node = switched_node();
  node.scale_up.in_network_reduction = true;
  Fabric between = fabric("rail-optimized");
  between.nodes_per_leaf = 32;
  const LinkGraph graph = build_link_graph(cluster(node, nodes, between));
  REQUIRE(graph.chips().size() == static_cast<std::size_t>(chips));
  CHECK(graph.edges().size() < 12 * static_cast<std::size_t>(chips));
  Router router(graph);
  const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {chips, 1});
  const CollectiveTime time = fastest(forms, Bytes{1e9}, graph);
  REQUIRE(time.binding.has_value());
  CHECK(busiest(*time.form).si() == close_to(2.0 / 8 / nic_rate, 1e-3));
}

TEST_CASE("in a small cluster the steady rate equals that of a large one, node for node") {
  const auto rate = [](int nodes) {
    const LinkGraph graph =
        build_link_graph(cluster(switched_node(), nodes, fabric("rail-optimized")));
    Router router(graph);
    return busiest(forms_by("ring", graph, router, CollectiveKind::all_gather, {nodes, 8}).at(0));
  };
  CHECK(rate(4).si() / (3.0 / 4) == close_to(rate(256).si() / (255.0 / 256)));
}
