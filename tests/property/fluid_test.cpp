// Max-min fairness on random flows: the definition itself, and an oracle that fills step by step.

#include "network/fluid.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace clustersim;
using test::close_to;

namespace {

constexpr double exact = 1e-9;

/// Uniform in [low, high) on every platform.
double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}
std::size_t below(std::mt19937_64& random, std::size_t end) {
  return static_cast<std::size_t>(random() % end);
}

struct Case {
  std::vector<double> capacities;
  std::vector<FluidFlow> flows;
};

/// Weights, shares and capacities over six orders of magnitude.
Case random_case(std::mt19937_64& random) {
  Case one;
  const std::size_t edges = 1 + below(random, 12), flows = 1 + below(random, 24);
  const auto wide = [&] { return std::exp(uniform(random, -7.0, 7.0)); };
  for (std::size_t e = 0; e < edges; ++e)
    one.capacities.push_back(wide());
  for (std::size_t f = 0; f < flows; ++f) {
    FluidFlow flow;
    const std::size_t hops = 1 + below(random, 4);
    for (std::size_t h = 0; h < hops; ++h)
      flow.weights.push_back({FluidEdgeId{below(random, edges)}, wide()});
    if (below(random, 2) == 0) flow.share = wide();
    if (below(random, 4) == 0) flow.most = BytesPerSecond{wide()};
    one.flows.push_back(flow);
  }
  return one;
}

struct Built {
  FluidShare share;
  std::vector<FlowId> ids;
};

Built build(const Case& one) {
  Built built;
  for (const double capacity : one.capacities)
    built.share.add_edge(BytesPerSecond{capacity});
  for (const FluidFlow& flow : one.flows)
    built.ids.push_back(built.share.start(flow));
  built.share.settle();
  return built;
}

/// Bytes on each edge per byte of payload of each flow.
std::vector<std::vector<double>> weights_of(const Case& one) {
  std::vector<std::vector<double>> weights(one.flows.size(),
                                           std::vector<double>(one.capacities.size(), 0.0));
  for (std::size_t f = 0; f < one.flows.size(); ++f) {
    for (const EdgeWeight& part : one.flows[f].weights)
      weights[f][part.edge.at()] += part.weight;
  }
  return weights;
}

/// The textbook: raise all, hold those at the first full edge, sum everything anew, repeat.
std::vector<double> textbook(const Case& one) {
  const auto weights = weights_of(one);
  const std::size_t flows = one.flows.size();
  std::vector<double> rate(flows, -1.0);
  for (;;) {
    double level = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> held;
    const auto offer = [&](double at, const std::vector<std::size_t>& who) {
      if (at < level) {
        level = at;
        held = who;
      }
    };
    for (std::size_t e = 0; e < one.capacities.size(); ++e) {
      double left = one.capacities[e], rising = 0.0;
      std::vector<std::size_t> who;
      for (std::size_t f = 0; f < flows; ++f) {
        if (rate[f] >= 0.0) {
          left -= weights[f][e] * rate[f];
        } else if (weights[f][e] > 0.0) {
          rising += weights[f][e] * one.flows[f].share;
          who.push_back(f);
        }
      }
      if (!who.empty()) offer(std::max(0.0, left) / rising, who);
    }
    for (std::size_t f = 0; f < flows; ++f) {
      if (rate[f] < 0.0) offer(one.flows[f].most.si() / one.flows[f].share, {f});
    }
    if (held.empty()) return rate;
    for (const std::size_t f : held)
      rate[f] = level * one.flows[f].share;
  }
}

/// Full edges, and on one of them nobody with more per share: for every flow that is not at its
/// most.
void check_fair(const Case& one, const FluidShare& share, const std::vector<FlowId>& ids) {
  const auto weights = weights_of(one);
  for (std::size_t e = 0; e < one.capacities.size(); ++e)
    CHECK(share.carried(FluidEdgeId{e}).si() <= one.capacities[e] * (1 + exact));
  for (std::size_t f = 0; f < ids.size(); ++f) {
    const double rate = share.rate(ids[f]).si();
    CHECK(rate <= one.flows[f].most.si() * (1 + exact));
    const auto at = share.bottleneck(ids[f]);
    if (!at) {
      CHECK(rate == close_to(one.flows[f].most.si(), exact));
      continue;
    }
    CHECK(share.carried(*at).si() == close_to(one.capacities[at->at()], exact));
    for (std::size_t other = 0; other < ids.size(); ++other) {
      if (weights[other][at->at()] == 0.0) continue;
      CHECK(share.rate(ids[other]).si() / one.flows[other].share <=
            rate / one.flows[f].share * (1 + exact));
    }
  }
}

} // namespace

TEST_CASE("every flow has a bottleneck, and no edge carries more than it can") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Case one = random_case(random);
    const Built built = build(one);
    check_fair(one, built.share, built.ids);
  }
}

TEST_CASE("rates are those of the textbook's filling") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000; ++i) {
    const Case one = random_case(random);
    const Built built = build(one);
    const std::vector<double> expected = textbook(one);
    for (std::size_t f = 0; f < expected.size(); ++f)
      CHECK(built.share.rate(built.ids[f]).si() == close_to(expected[f], exact));
  }
}

TEST_CASE("rates do not depend on the order of flows") {
  std::mt19937_64 random(3);
  for (int i = 0; i < 500; ++i) {
    const Case one = random_case(random);
    const Built built = build(one);
    std::vector<std::size_t> order(one.flows.size());
    for (std::size_t f = 0; f < order.size(); ++f)
      order[f] = f;
    for (std::size_t f = order.size(); f > 1; --f)
      std::swap(order[f - 1], order[below(random, f)]);
    Case shuffled{one.capacities, {}};
    for (const std::size_t f : order)
      shuffled.flows.push_back(one.flows[f]);
    const Built again = build(shuffled);
    for (std::size_t f = 0; f < order.size(); ++f) {
      CHECK(again.share.rate(again.ids[f]).si() ==
            close_to(built.share.rate(built.ids[order[f]]).si(), exact));
    }
  }
}

TEST_CASE("flows that come and go leave the same rates as a fresh start") {
  std::mt19937_64 random(4);
  for (int round = 0; round < 60; ++round) {
    const Case world = random_case(random);
    FluidShare share;
    for (const double capacity : world.capacities)
      share.add_edge(BytesPerSecond{capacity});
    std::vector<FluidFlow> now;
    std::vector<FlowId> ids;
    for (int change = 0; change < 80; ++change) {
      if (now.empty() || below(random, 5) < 3) {
        now.push_back(world.flows[below(random, world.flows.size())]);
        ids.push_back(share.start(now.back()));
      } else {
        const std::size_t gone = below(random, now.size());
        share.end(ids[gone]);
        now.erase(now.begin() + static_cast<std::ptrdiff_t>(gone));
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(gone));
      }
      if (below(random, 3) != 0) continue; // several changes at the same moment
      share.settle();
      const Case fresh{world.capacities, now};
      const Built again = build(fresh);
      for (std::size_t f = 0; f < now.size(); ++f)
        CHECK(share.rate(ids[f]).si() == close_to(again.share.rate(again.ids[f]).si(), exact));
    }
    CHECK(share.running() == now.size());
  }
}
