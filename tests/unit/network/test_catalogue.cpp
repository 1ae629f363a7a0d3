// Every node and fabric of the catalogue gives a graph in which every chip reaches every other.

#include "base/diagnostic.hpp"
#include "network/collective.hpp"
#include "spec/catalogue.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace clustersim;

namespace {

const Catalogue& catalogue() {
  static const Catalogue files({CLUSTERSIM_SOURCE_DIR});
  return files;
}

template <class Value, class Load>
std::vector<Value> all(Kind kind, Load load) {
  std::vector<Value> values;
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.kind != kind) continue;
    Diagnostics out;
    const auto value = load(catalogue(), entry.id, out, nullptr);
    INFO(entry.id << "\n" << render(out, false));
    REQUIRE(value.has_value());
    values.push_back(*value);
  }
  return values;
}

} // namespace

TEST_CASE("every link of the catalogue loads and carries something") {
  for (const Link& link : all<Link>(Kind::link, load_link)) {
    INFO(link.id);
    CHECK(link.bandwidth > BytesPerSecond{});
    CHECK(link.achieved_fraction <= 1.0);
  }
}

TEST_CASE("in every node of the catalogue each chip reaches each other") {
  for (const Node& node : all<Node>(Kind::node, load_node)) {
    INFO(node.id);
    Cluster cluster;
    cluster.partitions.push_back({node, 1, Fabric{}});
    const LinkGraph graph = build_link_graph(cluster);
    Router router(graph);
    REQUIRE(graph.chips().size() == static_cast<std::size_t>(node.chips));
    // Of large tori every so many chips stand for their like.
    const std::size_t step = std::max<std::size_t>(1, graph.chips().size() / 72);
    for (std::size_t a = 0; a < graph.chips().size(); a += step * step) {
      for (std::size_t b = 0; b < graph.chips().size(); ++b) {
        if (a != b) CHECK_FALSE(router.route(graph.chips()[a], graph.chips()[b]).edges.empty());
      }
    }
  }
}

TEST_CASE("every fabric of the catalogue joins nodes across leaves") {
  Diagnostics out;
  const auto node = load_node(catalogue(), "dgx-h100", out);
  REQUIRE(node.has_value());
  for (const Fabric& fabric : all<Fabric>(Kind::fabric, load_fabric)) {
    if (fabric.shape == "none") continue;
    INFO(fabric.id);
    Cluster cluster;
    cluster.partitions.push_back({*node, fabric.nodes_per_leaf + 1, fabric});
    const LinkGraph graph = build_link_graph(cluster);
    Router router(graph);
    const auto& chips = graph.chips();
    CHECK_FALSE(router.route(chips.front(), chips.back()).edges.empty());
    CHECK_FALSE(router.pattern(RankId{0}, RankId{chips.size() - 1}).hops_taken.empty());
  }
}
