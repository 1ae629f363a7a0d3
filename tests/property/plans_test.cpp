// Every plan of a 64-chip cluster for three models: each is refused with a reason, or lowers, is
// timed, and its numbers hold together.

#include "engine/analytic.hpp"
#include "plan/lower.hpp"
#include "plan/memory.hpp"
#include "spec/validate_plan.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

constexpr int chips = 64;

const std::vector<std::string> eight_nodes{"cluster.nodes=8", "cluster.fabric=rail-optimized-ndr",
                                           "plan.data=32", "training.global_batch=128"};

bool tensor_fits(const Transformer& model, int tensor) {
  return model.heads % tensor == 0 && model.kv_heads % tensor == 0 &&
         model.ffn_hidden % tensor == 0 && model.vocabulary % tensor == 0;
}

/// Calls `visit` with every combination of the axes, those that validation refuses among them.
template <class Visit>
void for_each_plan(Scenario scenario, const Visit& visit) {
  Plan& plan = scenario.plan;
  const bool mixture = scenario.model.moe.experts > 0;
  for (const int tensor : {1, 2, 4, 8}) {
    if (!tensor_fits(scenario.model, tensor)) continue;
    for (const int context : {1, 2, 4}) {
      for (const int pipeline : {1, 2, 4, 8, 16}) {
        if (chips % (tensor * context * pipeline) != 0) continue;
        for (const int chunks : {1, 2, 3}) {
          for (const Schedule schedule : {Schedule::gpipe, Schedule::one_f_one_b,
                                          Schedule::zero_bubble, Schedule::dual_pipe}) {
            for (const int expert : mixture ? std::vector<int>{1, 4, 8} : std::vector<int>{1}) {
              for (const int zero : {0, 1, 2, 3}) {
                plan.tensor = tensor;
                plan.sequence_parallel = tensor > 1;
                plan.context = context;
                plan.context_exchange = tensor == 2   ? ContextExchange::all_gather
                                        : tensor == 4 ? ContextExchange::ulysses
                                                      : ContextExchange::ring;
                plan.pipeline = pipeline;
                plan.data = chips / (tensor * context * pipeline);
                plan.virtual_stages = chunks;
                plan.schedule = schedule;
                plan.expert = expert;
                plan.expert_tensor = mixture && expert < 8 ? tensor : 1;
                plan.zero = zero;
                plan.hybrid_shard = zero > 1 && plan.data % 8 == 0 ? 8 : 1;
                plan.ends_as_layers = ends_should_count(scenario);
                visit(scenario);
              }
            }
          }
        }
      }
    }
  }
}

Scenario base(const char* name, std::int64_t layers, std::int64_t experts,
              const std::vector<std::string>& settings = {}) {
  Scenario scenario = test::shipped_scenario(name, settings);
  scenario.cluster.partitions.front().nodes =
      chips / scenario.cluster.partitions.front().node.chips;
  scenario.training.sequence = 4096;
  scenario.training.global_batch = 128;
  scenario.model.layers = layers;
  if (experts > 0) {
    scenario.model.moe.experts = experts;
    scenario.model.moe.top_k = 2;
    scenario.model.moe.ffn_hidden = 2048;
    scenario.model.moe.dense_first = 1;
  }
  return scenario;
}

void check_breakdown(const Timeline& timeline) {
  Seconds sum;
  for (const BreakdownItem& item : timeline.breakdown) {
    INFO(item.name);
    CHECK(item.time.si() >= -1e-9 * timeline.step.si());
    sum += item.time;
  }
  CHECK(std::isfinite(timeline.step.si()));
  CHECK(timeline.step.si() > 0.0);
  CHECK(sum.si() == close_to(timeline.step.si(), 1e-12));
}

void check_memory(Scenario scenario) {
  const MemoryFootprint memory = memory_footprint(scenario);
  CHECK(memory.stages.size() == static_cast<std::size_t>(scenario.plan.pipeline));
  for (const StageMemory& stage : memory.stages) {
    CHECK(stage.peak <= memory.peak);
    for (const MemoryTerm& term : stage.terms)
      CHECK(term.bytes >= Bytes{0});
  }
  // The same micro-batches, each twice as large.
  scenario.plan.micro_batch *= 2;
  scenario.training.global_batch *= 2;
  CHECK(memory_footprint(scenario).peak >= memory.peak);
}

int check_all(const Scenario& scenario) {
  Network network(scenario.cluster);
  int run = 0;
  for_each_plan(scenario, [&](const Scenario& one) {
    if (one.training.global_batch % one.plan.data != 0) return;
    const std::vector<PlanFault> faults = plan_faults(one);
    for (const PlanFault& fault : faults) {
      CHECK_FALSE(fault.message.empty());
      CHECK_FALSE(fault.expected.empty());
    }
    if (!faults.empty()) return;
    ++run;
    CAPTURE(one.plan.tensor);
    CAPTURE(one.plan.context);
    CAPTURE(one.plan.pipeline);
    CAPTURE(one.plan.virtual_stages);
    CAPTURE(static_cast<int>(one.plan.schedule));
    CAPTURE(one.plan.expert);
    CAPTURE(one.plan.zero);
    CostModel cost(one, network);
    check_breakdown(run_analytic(lower(one), cost));
    check_memory(one);
  });
  return run;
}

} // namespace

TEST_CASE("all plans of 64 chips, a dense model with grouped keys") {
  CHECK(check_all(base("dgx_h100", 80, 0)) > 500);
}

TEST_CASE("all plans of 64 chips, a dense model whose layers do not divide") {
  CHECK(check_all(base("llama3_8b_dgx_h100", 30, 0, eight_nodes)) > 500);
}

TEST_CASE("all plans of 64 chips, a mixture of experts") {
  CHECK(check_all(base("llama3_8b_dgx_h100", 33, 8, eight_nodes)) > 1000);
}

TEST_CASE("every order of the axes runs, and tensor groups spread over nodes are slower") {
  const auto timed = [](const Scenario& scenario, Network& network) {
    CostModel cost(scenario, network);
    return run_analytic(lower(scenario), cost);
  };
  Scenario scenario = base("dgx_h100", 16, 0);
  scenario.plan.tensor = 4;
  scenario.plan.context = 2;
  scenario.plan.pipeline = 2;
  scenario.plan.data = chips / (4 * 2 * 2);
  Network network(scenario.cluster);
  const Seconds usual = timed(scenario, network).step;
  std::sort(scenario.plan.placement.begin(), scenario.plan.placement.end());
  int orders = 0;
  do {
    ++orders;
    REQUIRE(plan_faults(scenario).empty());
    const Timeline timeline = timed(scenario, network);
    check_breakdown(timeline);
    if (scenario.plan.placement.back() == Axis::tensor) CHECK(timeline.step > 1.5 * usual);
  } while (std::next_permutation(scenario.plan.placement.begin(), scenario.plan.placement.end()));
  CHECK(orders == 120);
}

TEST_CASE("an even split of layers said layer by layer changes nothing, an uneven one lengthens") {
  Scenario scenario = base("dgx_h100", 16, 0);
  scenario.plan.tensor = 8;
  scenario.plan.pipeline = 4;
  scenario.plan.data = 2;
  scenario.plan.ends_as_layers = false;
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const Seconds derived = step_time(lower(scenario), cost);
  const Bytes peak = memory_footprint(scenario).peak;
  scenario.plan.stage_layers = {4, 4, 4, 4};
  REQUIRE(plan_faults(scenario).empty());
  CHECK(step_time(lower(scenario), cost) == derived);
  CHECK(memory_footprint(scenario).peak == peak);
  scenario.plan.stage_layers = {2, 8, 4, 2};
  REQUIRE(plan_faults(scenario).empty());
  CHECK(step_time(lower(scenario), cost) > 1.3 * derived);
  const std::vector<StageMemory> stages = memory_footprint(scenario).stages;
  CHECK(stages[1].peak > stages[2].peak);
}
