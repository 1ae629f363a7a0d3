#include "analysis/explain.hpp"
#include "plan/lower.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

struct Explained {
  Timeline timeline;
  Explanation explanation;
};

Explained explained(const Scenario& scenario) {
  Network network(scenario.cluster);
  const StepProgram program = lower(scenario);
  CostModel cost(scenario, network);
  Explained result;
  result.timeline = run_analytic(program, cost);
  result.explanation = explain(scenario, program, network, result.timeline);
  return result;
}

} // namespace

TEST_CASE("elasticities over all resources sum to one") {
  for (const char* name :
       {"dgx_h100", "dgx_a100", "dgx1_v100", "single_gpu_gpt2", "rtx4090_workstation",
        "rtx6000ada_server", "bert_large", "gb200_nvl72", "mi300x_8", "tpu_v4_slice"}) {
    const Explanation explanation = explained(test::shipped_scenario(name)).explanation;
    double sum = 0;
    for (const Elasticity& elasticity : explanation.elasticities) {
      CHECK(elasticity.value >= -1e-9);
      CHECK(elasticity.doubled >= -1e-9);
      CHECK(elasticity.doubled < 1.0);
      sum += elasticity.value;
    }
    CHECK_MESSAGE(sum == close_to(1.0, 0.03), name);
  }
}

TEST_CASE("what-ifs are sorted, at least three, and agree with the step they quote") {
  const Explained result = explained(test::shipped_scenario("dgx_h100"));
  REQUIRE(result.explanation.what_ifs.size() >= 3);
  double last = 1.0;
  for (const WhatIf& what_if : result.explanation.what_ifs) {
    CHECK(what_if.gain <= last);
    CHECK(what_if.gain == close_to(1.0 - what_if.step / result.timeline.step));
    last = what_if.gain;
  }
}

TEST_CASE("a slow host becomes the bottleneck, and the verdict says so") {
  const Scenario scenario = test::shipped_scenario(
      "single_gpu_gpt2",
      {"override.stack.pytorch-eager-amp.host.per_operator=\"5 ms\"", "stack=pytorch-eager-amp"});
  const Explanation explanation = explained(scenario).explanation;
  CHECK(explanation.resource == "host dispatch");
  CHECK(explanation.verdict.find("host") != std::string::npos);
}

TEST_CASE("the range of a step follows from the elasticities and the spreads") {
  const auto result = explained(test::shipped_scenario("dgx_h100"));
  const Explanation& explanation = result.explanation;
  const double stack = test::shipped_scenario("dgx_h100").training.stack.spread;
  double variance = stack * stack;
  for (const Elasticity& one : explanation.elasticities) {
    CHECK(one.spread > 0.0);
    variance += std::pow(one.value * one.spread, 2);
  }
  const double factor = std::exp(1.2816 * std::sqrt(variance));
  const double step = result.timeline.step.si();
  CHECK(explanation.range.high.si() == close_to(step * factor));
  CHECK(explanation.range.low.si() == close_to(step / factor));
}

TEST_CASE("a stack that scatters more widens the range") {
  const auto result = explained(
      test::shipped_scenario("single_gpu_gpt2", {"override.stack.pytorch-eager-amp.stack.spread=0",
                                                 "stack=pytorch-eager-amp"}));
  const auto wide = explained(test::shipped_scenario(
      "single_gpu_gpt2",
      {"override.stack.pytorch-eager-amp.stack.spread=0.5", "stack=pytorch-eager-amp"}));
  CHECK(result.explanation.range.high < wide.explanation.range.high);
  CHECK(result.explanation.range.low > wide.explanation.range.low);
}
