// Figures of a machine: folding, cuts, tiers, reaches, diameter.

#include "network/fold.hpp"
#include "network/survey.hpp"
#include "support.hpp"
#include "support/close_to.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;
using namespace clustersim::testing;

namespace {

double bisection(const Cluster& machine) {
  return bisection_of(build_link_graph(machine)).rate.si();
}

Cluster nodes_of(const Node& node, int nodes, const std::string& shape, double oversubscription,
                 int nodes_per_leaf) {
  Cluster machine = cluster(node, nodes, fabric(shape));
  machine.partitions.front().fabric.oversubscription = oversubscription;
  machine.partitions.front().fabric.nodes_per_leaf = nodes_per_leaf;
  return machine;
}

Node torus(const std::string& extents, int chips, int links, const std::string& wrap) {
  Node node = switched_node();
  node.chips = chips;
  node.scale_up.shape = "torus";
  node.scale_up.torus = extents;
  node.scale_up.wrap = wrap;
  node.scale_up.links_per_chip = links;
  return node;
}

} // namespace

TEST_CASE("a bisection is the cards of half of the nodes, less where the spines are fewer") {
  const double half = 2 * 8 * nic_rate;
  CHECK(bisection(nodes_of(switched_node(), 4, "fat-tree", 1.0, 2)) == close_to(half));
  CHECK(bisection(nodes_of(switched_node(), 4, "fat-tree", 4.0, 2)) == close_to(half / 4));
  CHECK(bisection(nodes_of(switched_node(), 4, "rail-optimized", 4.0, 4)) == close_to(half));
}

TEST_CASE("a bisection inside a node is its worst halving") {
  CHECK(bisection(cluster(switched_node())) == close_to(4 * nvlinks * nvlink_rate));
  CHECK(bisection(cluster(pcie_node(true))) == close_to(2 * pcie_rate));
  // Staged data are written and read once each, on half of the memory's rate.
  CHECK(bisection(cluster(pcie_node(false))) == close_to(std::min(2 * pcie_rate, memory_rate / 2)));
  Node mesh = switched_node();
  mesh.scale_up.shape = "mesh";
  CHECK(bisection(cluster(mesh)) == close_to(4 * 4 * nvlinks * nvlink_rate / 7));
}

TEST_CASE("a torus is cut twice where its axes close, once where they do not") {
  const double link = nvlink_rate;
  CHECK(bisection(cluster(torus("4x4x4", 64, 6, "all"))) == close_to(2 * 16 * link));
  CHECK(bisection(cluster(torus("4x4x4", 64, 6, "none"))) == close_to(16 * link));
  CHECK(bisection(cluster(torus("4x8", 32, 4, "all"))) == close_to(2 * 4 * link));
}

TEST_CASE("folding keeps the sum of all links, and sisters together") {
  const LinkGraph graph = build_link_graph(nodes_of(switched_node(), 8, "rail-optimized", 1.0, 4));
  const FoldedGraph folded = fold(graph, Colours(graph.vertices().size(), 0));
  std::int64_t edges = 0;
  std::size_t vertices = 0;
  for (const FoldedEdge& edge : folded.edges)
    edges += edge.count;
  for (const FoldedVertex& vertex : folded.vertices)
    vertices += vertex.sisters.size();
  CHECK(edges == static_cast<std::int64_t>(graph.edges().size()));
  CHECK(vertices == graph.vertices().size());
  REQUIRE(folded.nodes.size() == 1);
  CHECK(folded.nodes.front().members.size() == 8);
  for (const FoldedVertex& vertex : folded.vertices) {
    if (vertex.kind == VertexKind::chip) CHECK(vertex.sisters.size() == 64);
  }
}

TEST_CASE("a fold is equitable: sisters have as many edges to every class") {
  const LinkGraph graph = build_link_graph(nodes_of(switched_node(), 5, "rail-optimized", 1.0, 4));
  Colours colours(graph.vertices().size(), 0);
  colours[graph.chips()[3].at()] = 24; // colours with holes
  const FoldedGraph folded = fold(graph, colours);
  const auto profile = [&](VertexId vertex) {
    std::vector<std::uint32_t> out;
    for (const EdgeId e : graph.out_edges(vertex))
      out.push_back(folded.vertex_of[graph.edge(e).to.at()]);
    std::sort(out.begin(), out.end());
    return out;
  };
  for (const FoldedVertex& vertex : folded.vertices) {
    for (const VertexId sister : vertex.sisters)
      CHECK(profile(sister) == profile(vertex.sisters.front()));
  }
  CHECK(folded.vertices[folded.vertex_of[graph.chips()[3].at()]].sisters.size() == 1);
}

TEST_CASE("a picture shows the chips of small nodes one by one, and nodes that are alike once") {
  const LinkGraph graph = build_link_graph(nodes_of(switched_node(), 5, "rail-optimized", 1.0, 4));
  const FoldedGraph folded = fold_for_picture(graph);
  CHECK(folded.nodes.size() == 2); // four at the first leaves, one at the others
  const auto chips = std::count_if(folded.vertices.begin(), folded.vertices.end(),
                                   [](const auto& v) { return v.kind == VertexKind::chip; });
  CHECK(chips == 2 * 8);
  const FoldedGraph slice =
      fold_for_picture(build_link_graph(cluster(torus("4x4x4", 64, 6, "none"))));
  const auto boxes = std::count_if(slice.vertices.begin(), slice.vertices.end(),
                                   [](const auto& v) { return v.kind == VertexKind::chip; });
  CHECK(boxes == 1); // corners and edges of a torus are drawn as one
}

TEST_CASE("tiers count links, switches and what a chip reaches") {
  const Survey survey =
      survey_of(build_link_graph(nodes_of(switched_node(), 8, "fat-tree", 2.0, 4)));
  const auto tier = std::find_if(survey.tiers.begin(), survey.tiers.end(), [](const LinkTier& t) {
    return t.a == VertexKind::nic && t.b == VertexKind::leaf;
  });
  REQUIRE(tier != survey.tiers.end());
  CHECK(tier->links == 8 * 8);
  CHECK(tier->total.si() == close_to(8 * 8 * nic_rate));
  REQUIRE(survey.switches.size() == 2);
  CHECK(survey.switches.front().switches == 2);
  CHECK(survey.switches.front().oversubscription() == close_to(2.0));
  REQUIRE(survey.reaches.size() == 2);
  CHECK(survey.reaches.front().medium == Medium::scale_up);
  CHECK(survey.reaches.front().peers == 7);
  CHECK(survey.reaches.front().slowest.si() == close_to(nvlinks * nvlink_rate));
  CHECK(survey.reaches.back().medium == Medium::network);
  CHECK(survey.reaches.back().peers == 7 * 8);
  CHECK(survey.reaches.back().slowest.si() == close_to(nic_rate));
  // chip, PCIe switch, card, leaf, spine, leaf, card, PCIe switch, chip
  CHECK(survey.diameter == 8);
  const Survey staged = survey_of(build_link_graph(cluster(pcie_node(false))));
  REQUIRE(staged.reaches.size() == 1);
  CHECK(staged.reaches.front().medium == Medium::host_memory);
}

TEST_CASE("hosts of a rack have chips, cards and sockets of their own") {
  Node rack = switched_node();
  rack.host.chips = 2;
  rack.host.sockets = 1;
  rack.host.chips_per_switch = 0;
  rack.nics.count = 4;
  const LinkGraph graph = build_link_graph(nodes_of(rack, 2, "single-switch", 1.0, 2));
  const Survey survey = survey_of(graph);
  CHECK(survey.vertices[static_cast<std::size_t>(VertexKind::root_complex)] == 2 * 4);
  CHECK(std::none_of(survey.tiers.begin(), survey.tiers.end(), [](const LinkTier& tier) {
    return tier.a == VertexKind::root_complex && tier.b == VertexKind::root_complex;
  }));
  Router router(graph);
  std::vector<std::string> cards; // by which chips 0 and 2 leave the node
  for (const std::size_t chip : {std::size_t{0}, std::size_t{2}}) {
    router.for_each_edge(RankId{chip}, RankId{chip + 8}, [&](EdgeId e, double share) {
      if (graph.kind(graph.edge(e).from) != VertexKind::nic) return;
      if (graph.kind(graph.edge(e).to) != VertexKind::leaf) return;
      CHECK(share == close_to(1.0));
      cards.push_back(graph.vertex(graph.edge(e).from).name);
    });
  }
  CHECK(cards == std::vector<std::string>{"node0/nic0", "node0/nic1"});
}
