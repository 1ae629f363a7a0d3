#include "study/named_system.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {

const Catalogue& catalogue() {
  static const Catalogue all({CLUSTERSIM_SOURCE_DIR});
  return all;
}

const Shelf& shelf() {
  static const Shelf all = load_shelf(catalogue());
  return all;
}

std::optional<NamedSystem> named(const std::string& name, int ranks, int nodes, std::string& why) {
  Diagnostics out;
  static const auto rules = load_resolver_rules("collectives", catalogue(), out);
  REQUIRE(rules.has_value());
  const std::string text = "system,ranks,nodes\n" + name + "," + std::to_string(ranks) + "," +
                           std::to_string(nodes) + "\n";
  const auto table = parse_csv(text, "t.csv", out);
  REQUIRE(table.has_value());
  return named_system(*table, 0, *rules, shelf(), why);
}

Partition partition(const std::string& name, int ranks, int nodes) {
  std::string why;
  const auto system = named(name, ranks, nodes, why);
  INFO(name << ": " << why);
  REQUIRE(system.has_value());
  CHECK_FALSE(system->assumptions.empty());
  return system->cluster.partitions.front();
}

} // namespace

TEST_CASE("names of the evidence mean the machines that they describe") {
  CHECK(partition("h100x8_nvswitch", 8, 1).node.scale_up.shape == "switched");
  CHECK(partition("h100x8_aws_p5_efa3200", 16, 2).node.id == "aws-p5");
  CHECK(partition("l40sx8_pcie_nop2p", 8, 1).node.host.peer_to_peer == false);
  CHECK(partition("rtx4090x4_p2p_pr22", 4, 1).node.host.peer_to_peer == true);
  CHECK(partition("h100_pairwise_nvlink(vidur)", 4, 1).node.scale_up.shape == "bridged");
  CHECK(partition("a100x8_hdr200x4_3node", 24, 3).node.nics.count == 4);
  CHECK(partition("h100_1gpu_per_node_4nic", 2, 2).node.nics.count == 4);
  CHECK(partition("gb200_nvl72_coreweave", 72, 18).nodes == 1);
  CHECK(partition("gb200_nvl72_coreweave", 1440, 360).nodes == 20);
  CHECK(partition("h20x8", 8, 1).node.chip.id == "h20-96gb");
  CHECK(partition("mi300x8_xgmi", 8, 1).node.chip.id == "mi300x");
}

TEST_CASE("a chip that no node holds is put into one that is joined alike") {
  const Partition rtx5090 = partition("rtx5090x8_pcie_nop2p", 8, 1);
  CHECK(rtx5090.node.chip.id == "rtx-5090");
  CHECK(rtx5090.node.scale_up.shape == "none");
  CHECK(rtx5090.node.host.pcie.id == "pcie5-x16");
  CHECK_FALSE(rtx5090.node.host.peer_to_peer);
  const Partition roce = partition("h200x8_nvswitch_roce400x8", 32, 4);
  CHECK(roce.node.nics.link.id == "roce-400");
  CHECK(roce.fabric.link.id == "roce-400");
}

TEST_CASE("a name that says too little is refused with what is missing") {
  std::string why;
  CHECK_FALSE(named("abacus9000x8_nvswitch", 8, 1, why));
  CHECK(why == "no chip of the catalogue begins the name 'abacus9000x8_nvswitch'");
  for (const std::string name : {"", "_", "x8", "8", "()", "xxxxxxxxxx", "h"}) {
    CHECK_FALSE(named(name, 8, 1, why));
  }
  CHECK_FALSE(named("h100x8_nvswitch", 2, 4, why));
}
