// Graphs that cannot be meant: each is refused in words.

#include "small_catalogue.hpp"
#include "spec/check_shapes.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::test;

namespace {

Node listed(std::vector<std::string> edges) {
  Node node;
  node.id = "listed";
  node.chips = 4;
  node.nics.count = 1;
  node.scale_up.shape = "explicit";
  node.scale_up.links_per_chip = 6;
  node.scale_up.edges = std::move(edges);
  return node;
}

Partition joined(std::vector<std::string> edges) {
  Partition partition;
  partition.node = listed({"0-1"});
  partition.nodes = 3;
  partition.fabric.shape = "explicit";
  partition.fabric.edges = std::move(edges);
  return partition;
}

template <class Subject>
std::string said(const Subject& subject) {
  std::string all;
  for (const ShapeProblem& problem : shape_problems(subject))
    all += problem.message + '\n';
  return all;
}

bool contains(const std::string& text, const char* part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("lists of links in a node that make no graph") {
  CHECK(said(listed({"0-1 x2", "1-2", "2>3", "0-s1"})).empty());
  CHECK(contains(said(listed({"2-2"})), "'2-2' joins a vertex to itself"));
  CHECK(contains(said(listed({"0-1", "1-0"})), "1 and 0 are joined twice"));
  CHECK(contains(said(listed({"0-1 x0"})), "'0-1 x0' is no edge"));
  CHECK(contains(said(listed({"0-1 x-3"})), "'0-1 x-3' is no edge"));
  CHECK(contains(said(listed({"0-1 xnan"})), "'0-1 xnan' is no edge"));
  CHECK(contains(said(listed({"0-1 x5", "0-2 x2"})), "chip 0 has 7 links"));
  CHECK(contains(said(listed({})), "'scale_up.edges' is missing"));
}

TEST_CASE("a million edges are too many, said at once") {
  std::vector<std::string> edges;
  for (int i = 0; i < 1'000'000; ++i)
    edges.push_back(std::to_string(i) + "-hub");
  const Node node = listed(std::move(edges));
  REQUIRE(shape_problems(node).size() == 1);
  CHECK(contains(said(node), "too many edges"));
}

TEST_CASE("lists of cables that leave a node alone") {
  CHECK(said(joined({"node0-a", "node1-a", "node2-b", "a-b"})).empty());
  CHECK(contains(said(joined({"node0-a", "node1-a", "node2-b"})),
                 "the nodes form 2 parts that do not reach each other"));
  CHECK(contains(said(joined({"node0-a", "node1-a"})), "node2.nic0 is plugged in nowhere"));
  CHECK(contains(said(joined({"node0-a", "node0-b", "node1-a", "node2-a", "a-b"})),
                 "node0.nic0 is plugged in twice"));
  CHECK(contains(said(joined({"node0-node1"}).fabric), "a card plugs into a switch"));
  CHECK(contains(said(joined({"node0>a"}).fabric), "in both directions"));
}

TEST_CASE("a link that carries nothing, or less") {
  for (const char* rate : {"\"0 GB/s\"", "\"-25 GB/s\"", "\"1e400 GB/s\""}) {
    const SmallCatalogue files;
    const std::string text = files.read("topologies/links/wire.toml");
    const std::size_t at = text.find("bandwidth");
    REQUIRE(at != std::string::npos);
    const std::string line = text.substr(at, text.find('\n', at) - at);
    files.replace("topologies/links/wire.toml", line, std::string("bandwidth = ") + rate);
    const Outcome outcome = parse(files, small_scenario());
    INFO(rate << '\n' << outcome.text());
    CHECK_FALSE(outcome.scenario.has_value());
    CHECK(outcome.text().find("bandwidth") != std::string::npos);
  }
}
