// Invariants over every legal plan of a small space, on several clusters and models.

#include "pipeline.hpp"

#include "support/scenarios.hpp"

#include <fmt/format.h>

#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

struct Space {
  std::string config;
  int chips;
  int chips_per_node;
  std::vector<std::string> settings = {};
};

/// Dense, encoder-only, windows with experts and sinks, an encoder with its decoder, latent
/// attention with prediction modules.
const std::vector<Space> spaces{
    {"dgx_h100", 128, 8},
    {"dgx_a100", 8, 8},
    {"bert_large", 8, 8},
    {"dgx_h100", 128, 8, {"model=gpt-oss-20b"}},
    {"dgx_h100", 128, 8, {"model=t5-3b", "training.sequence=512", "training.decoder_sequence=114"}},
    {"dgx_h100", 128, 8, {"model=deepseek-v2-lite", "model.mtp_layers=1"}}};

/// Every TP × DP of the cluster with the given further settings.
std::vector<Scenario> plans(const Space& space, const std::vector<std::string>& further) {
  std::vector<Scenario> result;
  for (int tensor = 1; tensor <= space.chips_per_node; tensor *= 2) {
    std::vector<std::string> settings{
        fmt::format("plan.tensor={}", tensor), fmt::format("plan.data={}", space.chips / tensor),
        "plan.micro_batch=1", "training.global_batch=512", "plan.sequence_parallel=false"};
    settings.insert(settings.end(), space.settings.begin(), space.settings.end());
    settings.insert(settings.end(), further.begin(), further.end());
    result.push_back(test::shipped_scenario(space.config, settings));
  }
  return result;
}

void for_each_plan(const std::function<void(const Scenario&)>& check) {
  for (const Space& space : spaces) {
    for (const char* recompute : {"none", "selective", "full"}) {
      for (const int zero : {0, 1}) {
        for (const Scenario& scenario :
             plans(space, {fmt::format("plan.recompute=\"{}\"", recompute),
                           fmt::format("plan.zero={}", zero)})) {
          check(scenario);
        }
      }
    }
  }
}

Seconds step_of(const Scenario& scenario, const ResourceScale& scale = {}) {
  Network network(scenario.cluster);
  CostModel cost(scenario, network, scale);
  return step_time(lower(scenario), cost);
}

} // namespace

TEST_CASE("every plan is finite, above its floors, and its breakdown sums") {
  for_each_plan([](const Scenario& scenario) {
    const Answer result = answer(scenario);
    CHECK(result.timeline.step > Seconds{0});
    CHECK(result.headline.mfu > 0.0);
    CHECK(result.headline.mfu <= result.headline.hfu * (1 + 1e-9));
    CHECK(result.headline.hfu <= 1.0);
    Seconds sum;
    for (const BreakdownItem& item : result.timeline.breakdown) {
      CHECK(item.time.si() >= -1e-9);
      sum += item.time;
    }
    CHECK(sum == result.timeline.step);
  });
}

TEST_CASE("what the program's operators count is what the model needs") {
  for_each_plan([](const Scenario& scenario) {
    Network network(scenario.cluster);
    CostModel cost(scenario, network);
    Flops counted;
    for (const OpRecord& op : run_analytic(lower(scenario), cost).ops) {
      counted += op.model_flops * static_cast<double>(op.calls);
    }
    CHECK(counted * scenario.cluster.chips() / model_flops(scenario) == close_to(1.0, 1e-3));
  });
}

TEST_CASE("no faster resource makes a step slower") {
  const std::vector<std::function<void(ResourceScale&)>> improvements{
      [](ResourceScale& scale) { scale.matrix = 1.3; },
      [](ResourceScale& scale) { scale.memory = 1.3; },
      [](ResourceScale& scale) { scale.host = 1.3; },
      [](ResourceScale& scale) { scale.launch = 1.3; },
      [](ResourceScale& scale) {
        scale.links["nvlink4"] = {1.3, 1.0};
      },
      [](ResourceScale& scale) {
        scale.links["ib-ndr"] = {1.0, 1.3};
      }};
  for_each_plan([&](const Scenario& scenario) {
    const Seconds base = step_of(scenario);
    for (const auto& improve : improvements) {
      ResourceScale scale;
      improve(scale);
      CHECK(step_of(scenario, scale) <= base * (1 + 1e-12));
    }
  });
}

TEST_CASE("memory grows with the micro-batch and shrinks with recomputation") {
  for (const Space& space : spaces) {
    Bytes smaller;
    for (const int micro_batch : {1, 2, 4}) {
      const Scenario scenario = test::shipped_scenario(
          space.config,
          {fmt::format("plan.tensor={}", space.chips_per_node),
           fmt::format("plan.data={}", space.chips / space.chips_per_node),
           fmt::format("plan.micro_batch={}", micro_batch), "training.global_batch=512"});
      const Bytes peak = memory_footprint(scenario).peak;
      CHECK(peak > smaller);
      smaller = peak;
    }
    for (const Scenario& scenario : plans(space, {"plan.recompute=\"none\""})) {
      Scenario changed = scenario;
      const Bytes none = memory_footprint(changed).peak;
      changed.plan.recompute = Recompute::selective;
      const Bytes selective = memory_footprint(changed).peak;
      changed.plan.recompute = Recompute::full;
      const Bytes full = memory_footprint(changed).peak;
      CHECK(full < selective);
      CHECK(selective <= none);
    }
  }
}

TEST_CASE("recomputation costs time and changes no model FLOPs") {
  for_each_plan([](const Scenario& scenario) {
    Scenario plain = scenario;
    plain.plan.recompute = Recompute::none;
    CHECK(step_of(scenario) >= step_of(plain) * (1 - 1e-12));
    CHECK(model_flops(scenario) == model_flops(plain));
  });
}

TEST_CASE("twice the batch takes at most twice the time, and more than once") {
  const Scenario one = test::shipped_scenario("dgx_h100");
  Scenario two = one;
  two.training.global_batch *= 2;
  CHECK(step_of(two) <= 2.0 * step_of(one));
  CHECK(step_of(two) > 1.5 * step_of(one));
}
