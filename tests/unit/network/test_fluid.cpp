// Max-min fair sharing, each expected rate as the formula that it follows from.

#include "base/bug.hpp"
#include "network/fluid.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace clustersim;
using test::close_to;

namespace {

constexpr double exact = 1e-12;

FluidFlow over(std::vector<EdgeWeight> weights) {
  return {std::move(weights)};
}

double rate(const FluidShare& share, FlowId flow) {
  return share.rate(flow).si();
}

} // namespace

TEST_CASE("flows on one edge share it evenly") {
  FluidShare share;
  const FluidEdgeId edge = share.add_edge(BytesPerSecond{12e9});
  const FlowId a = share.start(over({{edge}})), b = share.start(over({{edge}}));
  const FlowId c = share.start(over({{edge}}));
  CHECK(share.settle().size() == 3);
  for (const FlowId flow : {a, b, c}) {
    CHECK(rate(share, flow) == close_to(12e9 / 3, exact));
    CHECK(share.bottleneck(flow) == edge);
  }
  CHECK(share.carried(edge).si() == close_to(12e9, exact));
  share.end(b);
  CHECK(share.settle().size() == 2);
  CHECK(rate(share, a) == close_to(12e9 / 2, exact));
  share.end(a);
  share.settle();
  CHECK(rate(share, c) == close_to(12e9, exact));
  share.end(c);
  CHECK(share.settle().empty());
  CHECK(share.running() == 0);
}

TEST_CASE("what a flow cannot take goes to the others") {
  FluidShare share;
  const FluidEdgeId wide = share.add_edge(BytesPerSecond{10});
  const FluidEdgeId narrow = share.add_edge(BytesPerSecond{3});
  const FlowId through = share.start(over({{wide}, {narrow}}));
  const FlowId other = share.start(over({{wide}}));
  FluidFlow held = over({{wide}});
  held.most = BytesPerSecond{1};
  const FlowId slow = share.start(held);
  share.settle();
  CHECK(rate(share, slow) == close_to(1.0, exact));
  CHECK(!share.bottleneck(slow).has_value());
  CHECK(rate(share, through) == close_to(3.0, exact));
  CHECK(share.bottleneck(through) == narrow);
  CHECK(rate(share, other) == close_to(10.0 - 3.0 - 1.0, exact));
  CHECK(share.bottleneck(other) == wide);
}

TEST_CASE("the parking lot: one flow through all edges against one on each") {
  FluidShare share;
  std::vector<EdgeWeight> all;
  std::vector<FlowId> local;
  constexpr int edges = 5;
  for (int i = 0; i < edges; ++i) {
    const FluidEdgeId edge = share.add_edge(BytesPerSecond{2.0 + i});
    all.push_back({edge});
    local.push_back(share.start(over({{edge}})));
  }
  const FlowId through = share.start(over(all));
  share.settle();
  CHECK(rate(share, through) == close_to(2.0 / 2, exact)); // half of the narrowest
  for (int i = 0; i < edges; ++i)
    CHECK(rate(share, local[static_cast<std::size_t>(i)]) == close_to(2.0 + i - 1.0, exact));
}

TEST_CASE("unlike load vectors share by rate, and each edge carries no more than it can") {
  FluidShare share;
  const FluidEdgeId nic = share.add_edge(BytesPerSecond{50});
  const FluidEdgeId link = share.add_edge(BytesPerSecond{450});
  const double ring = 2.0 * 7 / 8; // all-reduce of 8 ranks
  const FlowId collective = share.start(over({{nic, ring}, {link, 8 * ring}}));
  const FlowId message = share.start(over({{nic}}));
  share.settle();
  const double fair = 50 / (ring + 1); // (w₁ + w₂) · x = C
  REQUIRE(450 / (8 * ring) < fair * 2);
  const double at_link = 450 / (8 * ring);
  const double collective_rate = std::min(fair, at_link);
  CHECK(rate(share, collective) == close_to(collective_rate, exact));
  CHECK(rate(share, message) == close_to(50 - ring * collective_rate, exact));
}

TEST_CASE("four groups as one flow get four fifths of the edge") {
  FluidShare share;
  const FluidEdgeId edge = share.add_edge(BytesPerSecond{100});
  const FlowId groups = share.start(over({{edge, 4.0}})), single = share.start(over({{edge}}));
  share.settle();
  CHECK(rate(share, groups) == close_to(100.0 / 5, exact)); // of each group
  CHECK(rate(share, single) == close_to(100.0 / 5, exact));
  // By bytes in place of payload: the one flow as much as the four together.
  share.end(groups);
  FluidFlow by_bytes = over({{edge, 4.0}});
  by_bytes.share = 1.0 / 4;
  const FlowId halved = share.start(by_bytes);
  share.settle();
  CHECK(rate(share, halved) == close_to(100.0 / 2 / 4, exact));
  CHECK(rate(share, single) == close_to(100.0 / 2, exact));
}

TEST_CASE("an edge named twice carries both") {
  FluidShare share;
  const FluidEdgeId edge = share.add_edge(BytesPerSecond{9});
  const FlowId there_and_back = share.start(over({{edge, 1.0}, {edge, 2.0}}));
  share.settle();
  CHECK(rate(share, there_and_back) == close_to(9.0 / 3, exact));
}

TEST_CASE("only what an edge that can fill joins is solved anew") {
  FluidShare share;
  const FluidEdgeId left = share.add_edge(BytesPerSecond{10});
  const FluidEdgeId right = share.add_edge(BytesPerSecond{10});
  const FluidEdgeId trunk = share.add_edge(BytesPerSecond{20}); // all that both sides can send
  const FlowId a = share.start(over({{left}, {trunk, 0.5}}));
  const FlowId b = share.start(over({{right}, {trunk, 0.5}}));
  CHECK(share.settle().size() == 2);
  const FlowId c = share.start(over({{left}, {trunk, 0.5}}));
  CHECK(share.settle() == std::vector<FlowId>{a, c}); // b is behind a trunk that cannot fill
  CHECK(rate(share, b) == close_to(10.0, exact));
  const FlowId d = share.start(over({{trunk}})); // which now can
  CHECK(share.settle() == std::vector<FlowId>{a, b, c, d});
  share.end(d);
  CHECK(share.settle() == std::vector<FlowId>{a, b, c});
}

TEST_CASE("nonsense is a bug of the caller") {
  FluidShare share;
  CHECK_THROWS_AS(share.add_edge(BytesPerSecond{0}), Bug);
  const FluidEdgeId edge = share.add_edge(BytesPerSecond{1});
  CHECK_THROWS_AS(share.start(over({{edge, -1.0}})), Bug);
  CHECK_THROWS_AS(share.start(over({})), Bug); // held back by nothing
  FluidFlow greedy = over({{edge}});
  greedy.share = 0.0;
  CHECK_THROWS_AS(share.start(greedy), Bug);
  const FlowId flow = share.start(over({{edge}}));
  share.end(flow);
  CHECK_THROWS_AS(share.end(flow), Bug);
}
