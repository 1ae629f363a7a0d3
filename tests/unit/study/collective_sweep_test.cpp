#include "study/collective_sweep.hpp"
#include "study/machine.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

const Catalogue& catalogue() {
  static const Catalogue all({CLUSTERSIM_SOURCE_DIR});
  return all;
}

Machine machine(const std::string& node, std::int64_t nodes, const std::string& fabric = {}) {
  Diagnostics out;
  const auto found = assemble_machine(catalogue(), {node, nodes, fabric}, out);
  INFO(render(out, false));
  REQUIRE(found.has_value());
  return *found;
}

} // namespace

TEST_CASE("several nodes without a fabric get the rail-optimised one of their cards' link") {
  const Machine two = machine("dgx-h100", 2);
  const Partition& partition = two.cluster.partitions.front();
  CHECK(partition.fabric.shape == "rail-optimized");
  CHECK(partition.fabric.link.id == partition.node.nics.link.id);
  CHECK(two.assumptions.size() == 1);
  CHECK(machine("dgx-h100", 2, "fat-tree-ndr").assumptions.empty());
  CHECK(machine("dgx-h100", 1).assumptions.empty());
  CHECK(fabric_of_link({}, partition.node.nics.link).shape == "single-switch");
}

TEST_CASE("what no graph can be built of is refused") {
  Diagnostics out;
  CHECK_FALSE(assemble_machine(catalogue(), {"dgx-h100", 0, {}}, out));
  CHECK_FALSE(assemble_machine(catalogue(), {"dgx-h100", most_chips, {}}, out));
  CHECK_FALSE(assemble_machine(catalogue(), {"no-such-node", 1, {}}, out));
  CHECK_FALSE(assemble_machine(catalogue(), {"dgx-h100", 2, "none"}, out));
  CHECK_FALSE(assemble_machine(catalogue(), {"desktop-1gpu", 2, {}}, out));
  CHECK(out.exit_code() == ExitCode::bad_input);
}

TEST_CASE("ranks are dealt evenly to the nodes") {
  const Cluster cluster = machine("dgx-h100", 4).cluster;
  std::string why;
  const auto world = family_of(cluster, 0, 1, why);
  REQUIRE(world);
  CHECK(*world == GroupFamily{32, 1, 1, 8, 8});
  CHECK(*family_of(cluster, 8, 4, why) == GroupFamily{8, 1, 4, 2, 8});
  for (const auto& [ranks, concurrent] : {std::pair{1, 1}, {33, 1}, {6, 1}, {8, 5}, {8, 0}}) {
    CHECK_FALSE(family_of(cluster, ranks, concurrent, why));
    CHECK_FALSE(why.empty());
  }
}

TEST_CASE("a sweep gives one row a size, with nccl-tests' bandwidths") {
  const Cluster cluster = machine("dgx-h100", 1).cluster;
  CollectiveQuestion question;
  question.sizes = {Bytes{1024}, Bytes{1e9}};
  std::string why;
  const auto sweep = sweep_collective(cluster, question, why);
  REQUIRE(sweep);
  REQUIRE(sweep->rows.size() == 2);
  const CollectiveRow& large = sweep->rows[1];
  CHECK(large.algorithm_bandwidth.si() == close_to(1e9 / large.time.si()));
  CHECK(large.bus_bandwidth.si() == close_to(2.0 * 7 / 8 * large.algorithm_bandwidth.si()));
  CHECK(sweep->rows[0].bound_by_latency());
  CHECK_FALSE(large.bound_by_latency());
  CHECK(large.binding_edge == "node0/gpu0 -> node0/switch");
  question.algorithm = "ring";
  CHECK(sweep_collective(cluster, question, why)->rows[1].algorithm == "ring");
  question.algorithm = "tree"; // over several nodes only
  CHECK_FALSE(sweep_collective(cluster, question, why));
}

TEST_CASE("groups side by side share the network cards") {
  // Eight groups of one chip per node each have a card of their own; on a node with half as many
  // cards two groups share each.
  Cluster cluster = machine("dgx-h100", 4).cluster;
  CollectiveQuestion question;
  question.kind = CollectiveKind::all_gather;
  question.ranks = 4;
  question.concurrent = 8;
  question.sizes = {Bytes{8e9}};
  std::string why;
  const auto own = sweep_collective(cluster, question, why);
  Node& node = cluster.partitions.front().node;
  node.nics.count = 4;
  node.host.chips_per_switch = 2;
  const auto shared = sweep_collective(cluster, question, why);
  REQUIRE(own);
  REQUIRE(shared);
  CHECK(shared->rows[0].time / own->rows[0].time == close_to(2.0, 0.02));
  question.concurrent = 1;
  CHECK(sweep_collective(cluster, question, why)->rows[0].time.si() ==
        close_to(own->rows[0].time.si()));
}

TEST_CASE("unlike groups of a cube mesh end at different times") {
  // Of DGX-1's pairs 0-1, 2-3, 4-5, 6-7, two have one link and two have two, and none share any.
  const Cluster cluster = machine("dgx1-v100", 1).cluster;
  CollectiveQuestion question;
  question.ranks = 2;
  question.concurrent = 4;
  question.sizes = {Bytes{1e9}};
  std::string why;
  const auto all = sweep_collective(cluster, question, why);
  REQUIRE(all);
  const CollectiveRow& row = all->rows[0];
  CHECK(row.sharing == 1);
  CHECK(row.fastest_group < 0.75 * row.time);
  question.concurrent = 1; // 0-1
  CHECK(sweep_collective(cluster, question, why)->rows[0].time.si() ==
        close_to(row.time.si(), 0.05));
}
