#include "analysis/plan_changes.hpp"

#include "base/text.hpp"
#include "pipeline.hpp"
#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace clustersim {
namespace {

using test::close_to;

/// The shipped scenario with a change typed in by hand, as a reader of the report would.
Answer after(const std::string& config, const std::string& change) {
  return answer(test::shipped_scenario(config, split(change, ' ')));
}

/// Sizes of parallel axes change together: their product is the cluster.
bool stands_alone(const std::string& setting) {
  const std::string key = setting.substr(0, setting.find('='));
  return key == "zero" || key == "recompute" || key == "micro_batch" || key == "gradient_dtype";
}

TEST_CASE("a faster plan, typed in as the report writes it, gives the step that was promised") {
  std::size_t tried = 0;
  for (const char* config : {"dgx_h100", "llama3_8b_dgx_h100", "bert_large"}) {
    CAPTURE(config);
    const Answer before = answer(test::shipped_scenario(config));
    Network network(before.scenario.cluster);
    for (const PlanChange& plan : faster_plans(before.scenario, before.timeline.step, network)) {
      CAPTURE(plan.change);
      const Answer then = after(config, plan.change);
      CHECK(then.timeline.step.si() == close_to(plan.step.si()));
      CHECK(then.timeline.step < before.timeline.step);
      CHECK(then.memory.peak == plan.peak);
      CHECK(then.memory.fits());
      ++tried;
    }
  }
  CHECK(tried >= 3);
}

TEST_CASE("a remedy makes the plan fit, and no part of it would") {
  const Scenario scenario = test::shipped_scenario("does_not_fit");
  Network network(scenario.cluster);
  const auto remedies = plans_with_less_memory(scenario, network);
  REQUIRE(remedies.size() == 3);
  REQUIRE(remedies.front().fits);
  for (const PlanChange& plan : remedies) {
    CAPTURE(plan.change);
    if (!plan.fits) {
      continue;
    }
    const Answer then = after("does_not_fit", plan.change);
    CHECK(then.memory.fits());
    CHECK(then.memory.peak == plan.peak);
    CHECK(then.timeline.step.si() == close_to(plan.step.si()));
    for (const std::string& part : split(plan.change, ' ')) {
      if (part != plan.change && stands_alone(part)) {
        CHECK_FALSE(after("does_not_fit", part).memory.fits());
      }
    }
  }
  for (std::size_t i = 1; i < remedies.size(); ++i) {
    CHECK(remedies[i].fits <= remedies[i - 1].fits);
    CHECK((!remedies[i].fits || remedies[i - 1].step <= remedies[i].step));
  }
}

TEST_CASE("where nothing makes it fit, the emptiest combination leads") {
  // Nothing is kept in a host's memory of unknown size.
  const Scenario scenario = test::shipped_scenario(
      "does_not_fit", {"nodes=1", "data=1", "override.node.\"dgx-h100\".host.capacity=0 B"});
  REQUIRE_FALSE(memory_footprint(scenario).fits());
  Network network(scenario.cluster);
  const auto remedies = plans_with_less_memory(scenario, network);
  REQUIRE_FALSE(remedies.empty());
  for (std::size_t i = 0; i < remedies.size(); ++i) {
    CHECK_FALSE(remedies[i].fits);
    CHECK(remedies[i].peak < memory_footprint(scenario).peak);
    CHECK((i == 0 || remedies[i - 1].peak <= remedies[i].peak));
  }
}

} // namespace
} // namespace clustersim
