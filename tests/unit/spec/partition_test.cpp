// Clusters of several partitions as they are written, placements and explicit layer splits.

#include "small_catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using namespace clustersim::test;

namespace {

const std::string one_cluster = "[cluster]\nnode = \"pair\"\nnodes = 2\nfabric = \"switch\"\n";
const std::string two_parts = "[cluster]\nbetween = \"switch\"\n"
                              "[[cluster.partition]]\nnode = \"pair\"\nnodes = 2\n"
                              "fabric = \"switch\"\n"
                              "[[cluster.partition]]\nnode = \"pair\"\n";

std::string with(const std::string& cluster) {
  return replaced(replaced(small_scenario(), one_cluster, cluster), "data = 2\n", "");
}

void refused(const std::string& text, const std::string& message, const std::string& expected) {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, text);
  INFO(outcome.text());
  CHECK_FALSE(outcome.scenario);
  CHECK(outcome.text().find(message) != std::string::npos);
  CHECK(outcome.text().find(expected) != std::string::npos);
}

} // namespace

TEST_CASE("partitions are read with their places, replicas lie inside of them") {
  const SmallCatalogue files;
  const Outcome outcome = parse(files, with(two_parts));
  INFO(outcome.text());
  REQUIRE(outcome.scenario);
  const Scenario& s = *outcome.scenario;
  REQUIRE(s.cluster.partitions.size() == 2);
  CHECK(s.cluster.partitions[0].nodes == 2);
  CHECK(s.cluster.partitions[0].fabric.shape == "single-switch");
  CHECK(s.cluster.partitions[1].nodes == 1);
  CHECK(s.cluster.partitions[1].fabric.shape == "none");
  REQUIRE(s.cluster.between);
  CHECK(s.cluster.between->fabric.id == "switch");
  CHECK(s.cluster.chips() == 2 * 2 + 2);
  CHECK(s.plan.data == 3);
  CHECK(s.plan.placement == replica_placement);
  const auto echoed = [&](const char* key) {
    return std::any_of(s.inputs.begin(), s.inputs.end(),
                       [&](const ResolvedValue& value) { return value.key == key; });
  };
  CHECK(echoed("cluster.partition[1].node"));
  CHECK(echoed("cluster.between"));
  CHECK_FALSE(echoed("cluster.node"));
}

TEST_CASE("contradictions of partitions") {
  refused(with(replaced(two_parts, "between = \"switch\"\n", "")),
          "2 partitions, but nothing joins them", "a fabric as cluster.between");
  refused(with(replaced(two_parts, "between", "node = \"pair\"\nbetween")),
          "'cluster.node' beside [[cluster.partition]]", "one of them");
  refused(with("[cluster]\npartition = []\n"), "'node' is missing in [cluster]", "list nodes");
  refused(with("[cluster]\npartition = 3\n"), "partition", "[[cluster.partition]]");
  refused(with(""), "'node' is missing in [cluster]", "clustersim list nodes");
  refused(with("[cluster]\nnodes = 2\n"), "'node' is missing in [cluster]",
          "clustersim list nodes");
  refused(with(replaced(two_parts, "node = \"pair\"\nnodes = 2", "nodes = 2")), "'node' is missing",
          "the name of a node");
  refused(with("[cluster]\nbetween = \"switch\"\nnode = \"pair\"\n"),
          "one partition has nothing to be joined with", "left out");
  refused(with("[cluster]\n[[cluster.partition]]\nnode = \"pair\"\nnodes = 2\n"),
          "2 nodes, but no fabric joins them", "a fabric, or one node");
  refused(with(replaced(two_parts, "nodes = 2", "nodes = 0")), "nodes", "from 1");
  refused(replaced(with(two_parts), "tensor = 2", "tensor = 4"),
          "4 + 2 chips cannot be shared out by tensor 4", "tensor = 2");
  refused(replaced(with(two_parts), "batch = 8", "batch = 2"), "leaves some of the 3 replicas",
          "at least 3");
  refused(replaced(with(two_parts), "batch = 8", "batch = 7\nx = 1"), "unknown key 'x'", "one of");
  refused(replaced(with(two_parts), "tensor = 2", "tensor = 2\nmicro_batch = 3"),
          "global_batch 8 leaves some", "at least 9");
  refused(replaced(with(two_parts), "tensor = 2", "tensor = 2\nplacement = \"dp-tp\""),
          "data comes last", "tensor, context, expert, pipeline, data");
}

TEST_CASE("placements are read from the plan, and echoed in full") {
  const SmallCatalogue files;
  const Outcome worse = parse(files, small_scenario(), {"plan.placement=data,tensor"});
  INFO(worse.text());
  REQUIRE(worse.scenario);
  CHECK(worse.scenario->plan.placement.front() == Axis::data);
  const Outcome wrong = parse(files, small_scenario(), {"plan.placement=rows"});
  CHECK(wrong.text().find("'rows' is no axis of a plan") != std::string::npos);
  CHECK(wrong.text().find("tensor, context, expert, data, pipeline") != std::string::npos);
}

TEST_CASE("layers of each stage: as many as the model has, in as many stages") {
  const SmallCatalogue files;
  const std::string text =
      replaced(small_scenario(), "data = 2\n", "pipeline = 2\nmicro_batch = 1\n");
  const auto layers = parse(files, text);
  REQUIRE_MESSAGE(layers.scenario, layers.text());
  const std::int64_t all = layers.scenario->model.layers;
  const auto split = [&](const std::string& list) {
    return parse(files, replaced(text, "pipeline = 2", "pipeline = 2\nstage_layers = " + list));
  };
  const Outcome good = split("[1, " + std::to_string(all - 1) + "]");
  REQUIRE_MESSAGE(good.scenario, good.text());
  CHECK(good.scenario->plan.stage_layers == std::vector<std::int64_t>{1, all - 1});
  CHECK_FALSE(good.scenario->plan.ends_as_layers);
  const Outcome sum = split("[1, " + std::to_string(all) + "]");
  INFO(sum.text());
  CHECK(sum.text().find("the stages hold " + std::to_string(all + 1) + " layers") !=
        std::string::npos);
  CHECK(sum.text().find("such as [1, " + std::to_string(all - 1) + "]") != std::string::npos);
  const Outcome number = split("[1, 1, 1]");
  CHECK(number.text().find("3 shares for 2 stages") != std::string::npos);
}
