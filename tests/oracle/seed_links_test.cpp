// What the texts behind the project say of links, from the shipped data.

#include "network/collective.hpp"
#include "spec/catalogue.hpp"
#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::test;

namespace {

Node shipped_node(const char* id) {
  Diagnostics out;
  const auto node = load_node(test::shipped_catalogue(), id, out);
  REQUIRE_MESSAGE(node.has_value(), render(out, false));
  return *node;
}

struct Answer {
  double bus = 0.0; // B/s
  std::string algorithm, binding;
};

Answer all_reduce(const Node& node, std::string_view algorithm, Bytes size) {
  Cluster machine;
  machine.partitions.push_back({node, 1, Fabric{}});
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  const auto kind = CollectiveKind::all_reduce;
  const auto forms = collective_forms(graph, router, kind, {node.chips, 1}, algorithm);
  REQUIRE_FALSE(forms.empty());
  const CollectiveTime best = fastest(forms, size, graph);
  Answer answer{bus_bandwidth(kind, node.chips, size, best.time).si(), best.form->algorithm, {}};
  REQUIRE(best.binding.has_value());
  answer.binding = graph.edge_name(*best.binding);
  return answer;
}

} // namespace

TEST_CASE("NVLink 4 carries seven times PCIe 5.0 x16") {
  const Node node = shipped_node("dgx-h100");
  const BytesPerSecond nvlink = node.scale_up.link.bandwidth * node.scale_up.links_per_chip;
  CHECK(nvlink / node.host.pcie.bandwidth == close_to(450.0 / 64, 0.02));
}

TEST_CASE("eight H100 reduce at 480 GB/s of bus bandwidth in the switch, at 360 by ring") {
  const Node node = shipped_node("dgx-h100");
  const Answer best = all_reduce(node, automatic_choice, Bytes{8589934592.0});
  CHECK(best.algorithm == "in-switch");
  CHECK(best.bus == close_to(480e9, 0.05)); // nccl-tests, 8 GiB
  CHECK(all_reduce(node, "ring", Bytes{8589934592.0}).bus == close_to(365e9, 0.05));
}

TEST_CASE("eight RTX 6000 Ada over PCIe are bound by the host side, and the edge says so") {
  const Answer best = all_reduce(shipped_node("srv-8x-6000ada"), automatic_choice, Bytes{1e9});
  CAPTURE(best.binding);
  const bool host = best.binding.find("root") != std::string::npos ||
                    best.binding.find("pcie-switch") != std::string::npos ||
                    best.binding.find("memory") != std::string::npos;
  CHECK(host);
  const Answer nvlink = all_reduce(shipped_node("dgx-h100"), automatic_choice, Bytes{1e9});
  CHECK(nvlink.bus > 20 * best.bus);
}
