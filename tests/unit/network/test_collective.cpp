#include "network/collective.hpp"

#include "network/layout.hpp"
#include "network/node_trees.hpp"
#include "support.hpp"
#include "support/close_to.hpp"

#include <cmath>

#include <doctest/doctest.h>
#include <map>

using namespace clustersim;
using clustersim::test::close_to;
using namespace clustersim::testing;

namespace {

constexpr double gb = 1e9;
const double port = nvlinks * nvlink_rate;

SecondsPerByte steady(const std::string& algorithm, const Cluster& machine, CollectiveKind kind,
                      GroupFamily family) {
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  SecondsPerByte least{1.0};
  for (const CollectiveForm& form : forms_by(algorithm, graph, router, kind, family)) {
    least = std::min(least, busiest(form));
  }
  return least;
}

} // namespace

TEST_CASE("ring all-reduce on a switch moves 2(n-1)/n of the buffer through every port") {
  Node node = switched_node();
  node.scale_up.link.protocols = {protocol("bulk", 7e-6, 3e-6, 0.8, 4e-6)};
  node.scale_up.link.local_copy = BytesPerSecond{1e12};
  const LinkGraph graph = build_link_graph(cluster(node));
  Router router(graph);
  const auto forms = forms_by("ring", graph, router, CollectiveKind::all_reduce, {8, 1});
  REQUIRE(forms.size() == 1);
  const double flow = 2.0 * 7 / 8 * gb / (port * 0.8);
  const double steps = 14 * (2 * 0.1e-6 + 3e-6);
  const double expected = 7e-6 + steps + flow + std::sqrt(4e-6 * flow) + gb / 8 / 1e12;
  CHECK(time_of(forms[0], Bytes{gb}, graph).time.si() == close_to(expected));
  CHECK(time_of(forms[0], Bytes{gb}, graph).latency.si() == close_to(7e-6 + steps));
}

TEST_CASE("gather and scatter rings move half of an all-reduce's bytes") {
  const Cluster machine = cluster(switched_node());
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    CHECK(steady("ring", machine, kind, {4, 1}).si() == close_to(3.0 / 4 / port));
  }
  CHECK(steady("ring", machine, CollectiveKind::broadcast, {4, 1}).si() == close_to(1.0 / port));
}

TEST_CASE("an all-reduce over two nodes is bound by the NICs, and a tree halves their bytes") {
  const Cluster machine = cluster(switched_node(), 2, fabric("rail-optimized"));
  const GroupFamily world{16, 1};
  const auto kind = CollectiveKind::all_reduce;
  CHECK(steady("ring", machine, kind, world).si() == close_to(2.0 * 15 / 16 / 8 / nic_rate));
  CHECK(steady("tree", machine, kind, world).si() == close_to(1.0 / 8 / nic_rate));
  CHECK(steady("hierarchical", machine, kind, world).si() == close_to(2.0 * 1 / 2 / 8 / nic_rate));
}

TEST_CASE("in a tree over many nodes the busiest NIC carries twice its share") {
  const Cluster machine = cluster(switched_node(), 8, fabric("rail-optimized"));
  CHECK(steady("tree", machine, CollectiveKind::all_reduce, {64, 1}).si() ==
        close_to(2.0 / 8 / nic_rate));
  CHECK(steady("hierarchical", machine, CollectiveKind::all_reduce, {64, 1}).si() ==
        close_to(2.0 * 7 / 8 / 8 / nic_rate));
}

TEST_CASE("the two trees span all nodes, and a branch of one is a leaf of the other") {
  for (const int nodes : {2, 3, 4, 7, 8, 16, 33}) {
    std::vector<int> children(static_cast<std::size_t>(nodes), 0);
    for (int node = 1; node < nodes; ++node) {
      int up = node, steps = 0;
      while (up != 0 && steps <= nodes)
        up = tree_parent(up, nodes), ++steps;
      CHECK(up == 0);
      ++children[static_cast<std::size_t>(tree_parent(node, nodes))];
    }
    for (int node = 0; node < nodes; ++node) {
      CHECK(children[static_cast<std::size_t>(node)] <= 2);
      if (node % 2 == 1) CHECK(children[static_cast<std::size_t>(node)] == 0);
    }
  }
}

TEST_CASE("sister groups that share a NIC share its rate") {
  const GroupFamily rails{2, 8}; // eight groups of one chip per node
  for (const int nics : {8, 4, 1}) {
    Node node = switched_node();
    node.host.chips_per_switch = 8 / nics;
    node.nics.count = nics;
    const Cluster machine = cluster(node, 2, fabric("single-switch"));
    CHECK(steady("ring", machine, CollectiveKind::all_gather, rails).si() ==
          close_to(1.0 / 2 / nic_rate * (8 / nics)));
    const GroupFamily alone{2, 8, 1};
    CHECK(steady("ring", machine, CollectiveKind::all_gather, alone).si() ==
          close_to(1.0 / 2 / nic_rate));
  }
}

TEST_CASE("without peer access the ring is bound by host memory and slower") {
  const auto kind = CollectiveKind::all_reduce;
  const double each = 2.0 * 3 / 4;
  CHECK(steady("ring", cluster(pcie_node(true)), kind, {4, 1}).si() == close_to(each / pcie_rate));
  const LinkGraph graph = build_link_graph(cluster(pcie_node(false)));
  Router router(graph);
  const auto forms = collective_forms(graph, router, kind, {4, 1});
  const CollectiveTime time = fastest(forms, Bytes{gb}, graph);
  REQUIRE(time.binding.has_value());
  CHECK(busiest(*time.form).si() == close_to(4 * each / (memory_rate / 2)));
  CHECK(graph.edge_name(*time.binding) == "node0/root0.up -> node0/memory0");
}

TEST_CASE("a full mesh carries rings side by side, a pair has its own links only") {
  Node node = switched_node();
  node.chips = 4;
  node.scale_up.shape = "mesh";
  const double pair = port / 3;
  const auto kind = CollectiveKind::all_reduce;
  CHECK(steady("ring", cluster(node), kind, {4, 1}).si() == close_to(2.0 * 3 / 4 / 3 / pair));
  CHECK(steady("ring", cluster(node), kind, {2, 1}).si() == close_to(1.0 / pair));
}

TEST_CASE("a ring over bridged pairs runs at the speed of PCIe") {
  Node node = pcie_node(true);
  node.scale_up.shape = "bridged";
  CHECK(steady("ring", cluster(node), CollectiveKind::all_reduce, {4, 1}).si() ==
        close_to(2.0 * 3 / 4 / pcie_rate));
  CHECK(steady("ring", cluster(node), CollectiveKind::all_reduce, {2, 1}).si() ==
        close_to(1.0 / port));
}

TEST_CASE("reduction in the switch moves 1 + 1/n, above four ranks") {
  Node node = switched_node();
  node.scale_up.in_network_reduction = true;
  const Cluster machine = cluster(node);
  CHECK(steady("in-switch", machine, CollectiveKind::all_reduce, {8, 1}).si() ==
        close_to((1 + 1.0 / 8) / port));
  const LinkGraph graph = build_link_graph(machine);
  Router router(graph);
  const auto kind = CollectiveKind::all_reduce;
  CHECK(forms_by("in-switch", graph, router, kind, {4, 1}).empty());
  CHECK(forms_by("in-switch", graph, router, CollectiveKind::all_gather, {8, 1}).empty());
  const LinkGraph plain = build_link_graph(cluster(switched_node()));
  Router plain_router(plain);
  CHECK(forms_by("in-switch", plain, plain_router, kind, {8, 1}).empty());
}

TEST_CASE("an all-to-all sends most of its bytes across nodes") {
  const Cluster machine = cluster(switched_node(), 4, fabric("rail-optimized"));
  // 24 of 32 peers are elsewhere; every NIC sends what its chip owes them.
  CHECK(steady("direct", machine, CollectiveKind::all_to_all, {32, 1}).si() ==
        close_to(24.0 / 32 / nic_rate));
  CHECK(steady("direct", machine, CollectiveKind::all_to_all, {8, 1}).si() ==
        close_to(7.0 / 8 / port));
}

TEST_CASE("oversubscribed leaves bind what crosses them") {
  Fabric between = fabric("fat-tree");
  between.nodes_per_leaf = 1;
  between.oversubscription = 4.0;
  const Cluster machine = cluster(switched_node(), 2, between);
  CHECK(steady("ring", machine, CollectiveKind::all_gather, {2, 8}).si() ==
        close_to(1.0 / 2 * 8 / (8 * nic_rate / 4)));
}

TEST_CASE("small messages take the low-latency protocol, large ones the bulk protocol") {
  Node node = switched_node();
  node.scale_up.link.protocols = {protocol("low-latency", 4e-6, 1e-6, 0.2, 0),
                                  protocol("bulk", 10e-6, 3e-6, 1.0, 0)};
  const LinkGraph graph = build_link_graph(cluster(node));
  Router router(graph);
  const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {8, 1});
  // 4 + 14·1.2 + 5x = 10 + 14·3.2 + x microseconds, x = 2·7/8·S/port
  const double crossing = (10 + 14 * 3.2 - 4 - 14 * 1.2) / 4 * 1e-6 * port / (2.0 * 7 / 8);
  CHECK(fastest(forms, Bytes{crossing * 0.99}, graph).form->protocol == "low-latency");
  CHECK(fastest(forms, Bytes{crossing * 1.01}, graph).form->protocol == "bulk");
}

TEST_CASE("time is homogeneous: all links k times as fast make every collective k times as fast") {
  Node node = switched_node();
  node.scale_up.in_network_reduction = true;
  node.scale_up.link.local_copy = BytesPerSecond{1e12};
  node.scale_up.link.protocols = {protocol("low-latency", 4e-6, 1e-6, 0.2, 1e-6),
                                  protocol("bulk", 10e-6, 3e-6, 1.0, 5e-6),
                                  protocol("in-switch", 30e-6, 0, 0.8, 9e-6)};
  node.nics.link.protocols = {protocol("bulk", 10e-6, 14e-6, 1.0, 5e-6)};
  const LinkGraph graph = build_link_graph(cluster(node, 4, fabric("rail-optimized")));
  Router router(graph);
  ResourceScale faster;
  for (const Link& each : graph.link_classes())
    faster.links[each.id] = {3.0, 3.0};
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                          CollectiveKind::all_to_all, CollectiveKind::send_recv}) {
    const auto forms = collective_forms(graph, router, kind, {32, 1});
    REQUIRE_FALSE(forms.empty());
    for (const double size : {1e3, 1e6, 1e9}) {
      CHECK(fastest(forms, Bytes{size}, graph, faster).time.si() * 3 ==
            close_to(fastest(forms, Bytes{size}, graph).time.si()));
    }
  }
}

TEST_CASE("time grows with the payload") {
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 4, fabric("rail-optimized")));
  Router router(graph);
  const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {32, 1});
  Seconds before;
  for (double size = 8; size < 1e10; size *= 2) {
    const Seconds now = fastest(forms, Bytes{size}, graph).time;
    CHECK(now > before);
    before = now;
  }
}

TEST_CASE("a group of one takes no time") {
  const LinkGraph graph = build_link_graph(cluster(switched_node()));
  Router router(graph);
  const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {1, 1});
  CHECK(forms.empty());
  CHECK(fastest(forms, Bytes{gb}, graph).time == Seconds{});
}

TEST_CASE("bus bandwidth follows nccl-tests") {
  const auto bus = [](CollectiveKind kind) {
    return bus_bandwidth(kind, 8, Bytes{gb}, Seconds{0.01}).si();
  };
  const double algorithm = gb / 0.01;
  CHECK(bus(CollectiveKind::all_reduce) == close_to(algorithm * 2 * 7 / 8));
  CHECK(bus(CollectiveKind::all_gather) == close_to(algorithm * 7 / 8));
  CHECK(bus(CollectiveKind::reduce_scatter) == close_to(algorithm * 7 / 8));
  CHECK(bus(CollectiveKind::all_to_all) == close_to(algorithm * 7 / 8));
  CHECK(bus(CollectiveKind::broadcast) == close_to(algorithm));
  CHECK(bus(CollectiveKind::send_recv) == close_to(algorithm));
}

TEST_CASE("algorithms are named once; the automatic choice is what libraries do") {
  std::map<std::string_view, bool (*)(CollectiveKind)> automatic;
  for (const CollectiveAlgorithm& row : collective_algorithms())
    CHECK(automatic.emplace(row.name, row.automatic).second);
  for (const char* asked_for : {"hierarchical", "halving-doubling", "multicast"})
    CHECK_FALSE(automatic.at(asked_for)(CollectiveKind::all_reduce));
  CHECK(automatic.at("tree")(CollectiveKind::all_reduce));
  CHECK_FALSE(automatic.at("tree")(CollectiveKind::broadcast));
}

TEST_CASE("peers across a root complex get no more than their share, whatever the protocol") {
  Node node = pcie_node(true);
  node.host.chips_per_switch = 2;
  node.host.pcie.protocols = {protocol("bulk", 0.0, 0.0, 0.8, 0.0)};
  node.host.pcie.through_root = 0.5;
  const auto kind = CollectiveKind::all_gather;
  CHECK(steady("ring", cluster(node), kind, {2, 1}).si() == close_to(1.0 / 2 / (0.8 * pcie_rate)));
  CHECK(steady("ring", cluster(node), kind, {4, 1}).si() == close_to(3.0 / 4 / (0.5 * pcie_rate)));
  // The uplink of a switch carries both of its chips' streams at its own rate: two of the three
  // quarters that each chip sends in an all-to-all, 2 · 2/4 together.
  node.host.pcie.through_root = 0.8;
  CHECK(steady("direct", cluster(node), CollectiveKind::all_to_all, {4, 1}).si() ==
        close_to(2.0 * 2 / 4 / pcie_rate));
}

TEST_CASE("what many chips stage through host memory falls with their number") {
  Node node = pcie_node(false);
  node.host.pcie.bandwidth = BytesPerSecond{1e15};
  node.host.memory.protocols = {protocol("bulk", 0.0, 0.0, 1.0, 0.0)};
  const auto rate = [&](double contention, GroupFamily family) {
    node.host.memory.contention = contention;
    return steady("ring", cluster(node), CollectiveKind::all_gather, family).si();
  };
  const double alone = 4 * 3.0 / 4 / (memory_rate / 2);
  CHECK(rate(0.0, {4, 1}) == close_to(alone));
  CHECK(rate(0.6, {4, 1}) == close_to(alone * (1 + 0.6 * (4 / 2.0 - 1))));
  CHECK(rate(0.6, {2, 1, 1}) == close_to(2 * 1.0 / 2 / (memory_rate / 2)));
  // Two groups of two at once are four chips at work.
  CHECK(rate(0.6, {2, 1}) == close_to(4 * 1.0 / 2 / (memory_rate / 2) * 1.6));
}

TEST_CASE("trees reach their share of a protocol's bandwidth, a switch that reduces its own") {
  Node node = switched_node();
  node.scale_up.in_network_reduction = true;
  node.scale_up.link.protocols = {protocol("bulk", 0.0, 0.0, 1.0, 0.0),
                                  protocol("in-switch", 0.0, 0.0, 0.9, 0.0)};
  node.nics.link.protocols = {protocol("bulk", 0.0, 0.0, 1.0, 0.0)};
  node.nics.link.protocols.front().tree_fraction = 0.5;
  const Cluster machine = cluster(node, 2, fabric("rail-optimized"));
  const auto kind = CollectiveKind::all_reduce;
  CHECK(steady("tree", machine, kind, {16, 1}).si() == close_to(1.0 / 8 / (0.5 * nic_rate)));
  node.nics.link.bandwidth = BytesPerSecond{1e15};
  const Cluster wide = cluster(node, 2, fabric("rail-optimized"));
  CHECK(steady("in-switch", wide, kind, {8, 1, 1}).si() == close_to((1 + 1.0 / 8) / (0.9 * port)));
}

TEST_CASE("the library takes what it believes to be faster, though it is not") {
  Node node = switched_node();
  node.scale_up.link.protocols = {protocol("bulk", 0.0, 0.0, 1.0, 0.0)};
  node.nics.link.protocols = {protocol("bulk", 0.0, 1e-6, 1.0, 0.0)};
  node.nics.link.protocols.front().tree_fraction = 0.2;
  node.nics.link.protocols.front().tree_step = Seconds{50e-6};
  const auto answer = [&](Bytes size) {
    Fabric between = fabric("single-switch");
    between.link = node.nics.link;
    const LinkGraph graph = build_link_graph(cluster(node, 8, between));
    Router router(graph);
    const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {64, 1});
    return fastest(forms, size, graph).form->algorithm;
  };
  const Bytes size{64e6};
  CHECK(answer(size) == "ring");
  // Believed: rings of 126 steps, 16 of them across; trees of 14 inside and 6 across at 0.8 of the
  // rate. They meet where the latencies differ by what 64 MB more take through a NIC.
  node.scale_up.link.tuner = {Seconds{}, Seconds{3e-6}, Seconds{4e-6}, 1.0, 1.0};
  node.nics.link.tuner = {Seconds{8e-6}, Seconds{14e-6}, Seconds{14e-6}, 1.4, 0.8};
  const double ring = 1.4 * (8e-6 + 126 * (7.0 / 8 * 3e-6 + 1.0 / 8 * 14e-6));
  const double tree = 8e-6 + 14 * 4e-6 + 6 * 14e-6;
  const double each = (2.0 / 8 / 0.8 - 2 * 63.0 / 64 / 8) / nic_rate;
  const double meet = (ring - tree) / each;
  CHECK(answer(Bytes{0.98 * meet}) == "tree");
  CHECK(answer(Bytes{1.02 * meet}) == "ring");
  // Not every link that moves data is known to the tuner: what is faster is taken.
  node.scale_up.link.tuner = {};
  CHECK(answer(Bytes{0.98 * meet}) == "ring");
}

TEST_CASE("blocks deal a group evenly to the nodes, its sisters beside it") {
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 4, fabric("single-switch")));
  const Router router(graph);
  const Layout layout(graph, router, {4, 1, 0, 2, 8}); // two of eight chips in each of two nodes
  REQUIRE(layout.groups() == 2 * 4);
  CHECK(layout.most_in_node() == 8);
  const auto ranks = [&](std::size_t group) {
    std::vector<std::size_t> out;
    for (const Segment& segment : layout.group(group)) {
      for (const std::uint32_t place : layout.places(segment))
        out.push_back(router.rank(segment.node, place).at());
    }
    return out;
  };
  CHECK(ranks(0) == std::vector<std::size_t>{0, 1, 8, 9});
  CHECK(ranks(3) == std::vector<std::size_t>{6, 7, 14, 15});
  CHECK(ranks(4) == std::vector<std::size_t>{16, 17, 24, 25});
}
