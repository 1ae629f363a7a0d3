#include "network/collective.hpp"

#include "support.hpp"

#include <cmath>
#include <doctest/doctest.h>

using namespace clustersim;
using namespace clustersim::testing;

namespace {
constexpr double gb = 1e9;
const double port = nvlinks * nvlink_rate;
} // namespace

TEST_CASE("ring all-reduce on a switch moves 2(n-1)/n of the buffer through every port") {
  Node node = switched_node();
  node.scale_up.link.protocols = {protocol("bulk", 7e-6, 3e-6, 0.8, 4e-6)};
  node.scale_up.link.local_copy = BytesPerSecond{1e12};
  const LinkGraph graph = build_link_graph(cluster(node));
  Router router(graph);
  const auto forms = forms_by("ring", graph, router, CollectiveKind::all_reduce, {8, 1});
  REQUIRE(forms.size() == 1);
  const double steady = 2.0 * 7 / 8 * gb / (port * 0.8);
  const double steps = 14 * (2 * 0.1e-6 + 3e-6);
  const double expected = 7e-6 + steps + steady + std::sqrt(4e-6 * steady) + gb / 8 / 1e12;
  CHECK(time_of(forms[0], Bytes{gb}, graph).time.si() == doctest::Approx(expected));
  CHECK(bus_bandwidth(CollectiveKind::all_reduce, 8, Bytes{gb}, Seconds{0.01}).si() ==
        doctest::Approx(2.0 * 7 / 8 * gb / 0.01));
}

TEST_CASE("an all-reduce over two nodes is bound by the NICs") {
  const LinkGraph graph = build_link_graph(cluster(switched_node(), 2, fabric("rail-optimized")));
  Router router(graph);
  const GroupFamily world{16, 1};
  const auto ring = forms_by("ring", graph, router, CollectiveKind::all_reduce, world);
  const auto tree = forms_by("tree", graph, router, CollectiveKind::all_reduce, world);
  const auto staged = forms_by("hierarchical", graph, router, CollectiveKind::all_reduce, world);
  CHECK(busiest(ring.at(0)).si() == doctest::Approx(2.0 * 15 / 16 / 8 / nic_rate));
  CHECK(busiest(tree.at(0)).si() == doctest::Approx(1.0 / 8 / nic_rate)); // half of the ring's
  CHECK(busiest(staged.at(0)).si() == doctest::Approx(2.0 * 1 / 2 / 8 / nic_rate));
}
