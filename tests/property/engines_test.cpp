// Two engines, one program: over every legal plan of small spaces they agree where nothing
// contends, and contention only ever adds.

#include "engine/analytic.hpp"
#include "engine/event.hpp"
#include "plan/lower.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <fmt/format.h>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

struct Space {
  std::string config;
  int chips;
  std::vector<std::string> settings = {};
};

const std::vector<Space> spaces{
    {"dgx_h100", 128},
    {"dgx_h100", 128, {"training.stack=\"torchtitan\"", "training.global_batch=256"}},
    {"dgx_h100", 128, {"model=gpt-oss-20b", "plan.expert=8"}},
    {"dgx_a100", 8},
    {"rtx6000ada_server", 8},
    {"bert_large", 8}};

/// Nothing where the plan is not legal.
std::optional<Scenario> plan_of(const Space& space, const std::vector<std::string>& further) {
  Diagnostics diagnostics;
  std::vector<std::string> settings = space.settings;
  settings.insert(settings.end(), further.begin(), further.end());
  const std::string path =
      std::string{CLUSTERSIM_SOURCE_DIR} + "/configs/" + space.config + ".toml";
  return load_scenario(path, test::shipped_catalogue(), {settings}, diagnostics);
}

std::vector<std::string> axes(int tensor, int pipeline, int context, int data) {
  return {fmt::format("plan.tensor={}", tensor),
          fmt::format("plan.pipeline={}", pipeline),
          fmt::format("plan.context={}", context),
          fmt::format("plan.data={}", data),
          fmt::format("plan.sequence_parallel={}", tensor > 1),
          "plan.micro_batch=1"};
}

/// Tensor, pipeline, context and data axes; all schedules; all stages of ZeRO.
std::vector<Scenario> plans_of(const Space& space) {
  std::vector<Scenario> plans;
  for (const int tensor : {1, 2, 8}) {
    for (const int pipeline : {1, 2, 4}) {
      for (const int context : {1, 2}) {
        const int data = space.chips / (tensor * pipeline * context);
        if (data < 1) continue;
        for (const int zero : {0, 1, 3}) {
          for (const char* schedule : {"1f1b", "gpipe", "zb-h1", "interleaved"}) {
            const bool interleaved = std::string{schedule} == "interleaved";
            if (pipeline == 1 && std::string{schedule} != "1f1b") continue;
            std::vector<std::string> further = axes(tensor, pipeline, context, data);
            further.push_back(fmt::format("plan.zero={}", zero));
            further.push_back(fmt::format("plan.schedule=\"{}\"", interleaved ? "1f1b" : schedule));
            if (interleaved) further.emplace_back("plan.virtual_stages=2");
            if (const auto plan = plan_of(space, further)) plans.push_back(*plan);
          }
        }
      }
    }
  }
  return plans;
}

std::string name_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  return fmt::format("{} on {}: tp {} pp {} vp {} cp {} dp {} zero {} schedule {}",
                     scenario.model.id, scenario.cluster.partitions.front().node.id, plan.tensor,
                     plan.pipeline, plan.virtual_stages, plan.context, plan.data, plan.zero,
                     static_cast<int>(plan.schedule));
}

double sum_of(const std::vector<BreakdownItem>& items) {
  double sum = 0.0;
  for (const BreakdownItem& item : items) {
    CHECK(item.time.si() >= 0.0);
    sum += item.time.si();
  }
  return sum;
}

} // namespace

TEST_CASE("both engines agree on every plan where nothing contends") {
  // The analytic engine takes the tax of all communication, the event engine only of what runs
  // beside kernels: without tax they agree to rounding, with it where kernels outlast what hides
  // behind them.
  constexpr double allowed = 0.03, ever = 0.04, hair = 1e-3, without_tax = 1e-6;
  int plans = 0, pipelines = 0, apart = 0;
  double worst = 0.0;
  for (const Space& space : spaces) {
    for (Scenario& scenario : plans_of(space)) {
      ++plans;
      pipelines += scenario.plan.pipeline > 1 ? 1 : 0;
      const std::string name = name_of(scenario);
      CAPTURE(name);
      Network network(scenario.cluster);
      const StepProgram program = lower(scenario);
      CostModel cost(scenario, network);
      const double analytic = step_time(program, cost).si();
      const EventRun alone = run_event(program, cost, {false, true, 0});
      CHECK(alone.timeline.step.si() <= analytic * (1.0 + hair));
      CHECK(alone.timeline.step.si() == close_to(analytic, ever));
      const double off = std::abs(alone.timeline.step.si() / analytic - 1.0);
      apart += off > allowed ? 1 : 0;
      worst = std::max(worst, off);
      CHECK(sum_of(alone.timeline.breakdown) == close_to(alone.timeline.step.si(), 1e-9));
      CHECK(sum_of(alone.critical_path) == close_to(alone.timeline.step.si(), 1e-6));
      const EventRun together = run_event(program, cost);
      CHECK(together.timeline.step.si() >= alone.timeline.step.si() * (1.0 - 1e-6));

      scenario.training.stack.overlap.tax = 0.0;
      CostModel untaxed(scenario, network);
      const double expected = step_time(program, untaxed).si();
      const EventRun exact = run_event(program, untaxed, {false, true, 0});
      CHECK(exact.timeline.step.si() == close_to(expected, without_tax));
    }
  }
  MESSAGE(plans << " plans, furthest apart " << 100.0 * worst << " %");
  CHECK(apart <= plans / 200);
  CHECK(plans > 300);
  CHECK(pipelines > 150);
}
