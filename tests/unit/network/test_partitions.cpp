// Unlike partitions are one graph.

#include "network/collective.hpp"

#include "support.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace clustersim;
using clustersim::test::close_to;
using namespace clustersim::testing;

namespace {

/// Eight chips without links of their own, at one slow card.
Node slow_node() {
  Node node = switched_node();
  node.id = "slow";
  node.scale_up.shape = "none";
  node.nics.count = 1;
  node.nics.link = link("slow nic", nic_rate / 4, 0.7e-6);
  return node;
}

Partition part(const Node& node, int nodes, const char* shape) {
  return {node, nodes, fabric(shape)};
}

} // namespace

TEST_CASE(
    "every rank of a cluster of unlike partitions reaches every other, and they are counted") {
  for (const char* shape : {"none", "single-switch", "rail-optimized", "fat-tree"}) {
    for (const char* between : {"single-switch", "fat-tree"}) {
      CAPTURE(shape);
      CAPTURE(between);
      const LinkGraph graph = build_link_graph(
          joined({part(switched_node(), 5, shape), part(slow_node(), 6, "none")}, fabric(between)));
      REQUIRE(graph.chips().size() == 8 * (5 + 6));
      Router router(graph);
      for (std::size_t a = 0; a < graph.chips().size(); a += 3) {
        for (std::size_t b = 0; b < graph.chips().size(); b += 5) {
          double sent = 0.0, received = 0.0;
          router.for_each_edge(RankId{a}, RankId{b}, [&](EdgeId e, double share) {
            if (graph.edge(e).from == graph.chips()[a]) sent += share;
            if (graph.edge(e).to == graph.chips()[b]) received += share;
          });
          if (a == b) continue;
          CHECK(sent == close_to(1.0));
          CHECK(received == close_to(1.0));
        }
      }
    }
  }
}

TEST_CASE("two like partitions at one switch are one partition at that switch") {
  const LinkGraph two = build_link_graph(
      joined({part(switched_node(), 2, "none"), part(switched_node(), 3, "none")},
             cluster(switched_node(), 5, fabric("single-switch")).partitions[0].fabric));
  const LinkGraph one = build_link_graph(cluster(switched_node(), 5, fabric("single-switch")));
  REQUIRE(two.edges().size() == one.edges().size());
  Router of_two(two), of_one(one);
  for (const CollectiveKind kind : all_collective_kinds) {
    CAPTURE(name_of(kind));
    const auto joint = collective_forms(two, of_two, kind, {40, 1});
    const auto single = collective_forms(one, of_one, kind, {40, 1});
    REQUIRE(joint.size() == single.size());
    for (const double size : {1e3, 1e6, 1e9}) {
      CHECK(fastest(joint, Bytes{size}, two).time.si() ==
            close_to(fastest(single, Bytes{size}, one).time.si(), 1e-12));
    }
  }
}

TEST_CASE(
    "the slow cards pace a ring over both partitions, the fast part alone does not feel them") {
  const LinkGraph graph = build_link_graph(joined(
      {part(switched_node(), 2, "none"), part(slow_node(), 2, "none")}, fabric("single-switch")));
  Router router(graph);
  const auto rate = [&](GroupFamily family) {
    return busiest(forms_by("ring", graph, router, CollectiveKind::all_gather, family).at(0));
  };
  // All eight rings of a node leave by its one card.
  CHECK(rate({32, 1}).si() == close_to(31.0 / 32 / (nic_rate / 4)));
  CHECK(rate({16, 1, 0, 0, 0, 0, 16}).si() == close_to(15.0 / 16 / 8 / nic_rate));
}

TEST_CASE("links between the fabrics of two partitions bound what crosses them") {
  Cluster both =
      joined({part(switched_node(), 2, "single-switch"), part(switched_node(), 2, "single-switch")},
             fabric("single-switch"));
  const auto rate = [&] {
    const LinkGraph graph = build_link_graph(both);
    Router router(graph);
    return busiest(forms_by("ring", graph, router, CollectiveKind::all_gather, {32, 1}).at(0));
  };
  const double each_way = 31.0 / 32; // of the payload crosses from one partition to the other
  CHECK(rate().si() == close_to(each_way / 8 / nic_rate)); // one link for each of the 16 cards
  both.between->links = 4;
  CHECK(rate().si() == close_to(each_way / 4 / nic_rate));
}
