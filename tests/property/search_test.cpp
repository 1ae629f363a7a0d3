// A search with pruning finds what trying everything finds, whatever the threads and the parts, and
// no plan is faster than its lower bound.

#include "engine/analytic.hpp"
#include "plan/lower.hpp"
#include "study/plan_rating.hpp"
#include "study/search.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace clustersim {
namespace {

/// A model of one hidden size on one or two nodes: spaces of a few hundred plans.
Scenario small_scenario(const std::vector<std::string>& settings) {
  const std::string text = R"(
schema = 1
[cluster]
node = "dgx-a100-80"
nodes = 2
fabric = "rail-optimized-hdr"
[model]
layers = 8
hidden = 2048
heads = 16
ffn_hidden = 8192
vocabulary = 32000
position = "rotary"
sequence_default = 1024
[training]
sequence = 1024
global_batch = 32
stack = "megatron-core-2024"
)";
  Diagnostics diagnostics;
  LoadOptions options{settings, {}, true};
  const auto scenario =
      parse_scenario(text, "small.toml", test::shipped_catalogue(), options, diagnostics);
  REQUIRE_MESSAGE(scenario.has_value(), render(diagnostics, false));
  return *scenario;
}

std::string signature(const SearchResult& result) {
  std::string out;
  for (const FoundPlan& found : result.best) {
    const Plan& p = found.plan;
    for (const double value :
         {found.score, found.step.si(), found.used.si(), double(p.tensor), double(p.pipeline),
          double(p.virtual_stages), double(p.context), double(p.expert), double(p.data),
          double(p.zero), double(p.hybrid_shard), double(p.micro_batch),
          double(p.sequence_parallel), double(static_cast<int>(p.recompute)),
          double(static_cast<int>(p.schedule))}) {
      out += std::to_string(value) + " ";
    }
    out += "\n";
  }
  return out;
}

template <class T>
std::string any_of(std::mt19937& random, std::vector<T> values) {
  std::shuffle(values.begin(), values.end(), random);
  const std::size_t count = 1 + random() % values.size();
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += (i == 0 ? "" : ", ") + std::string(values[i]);
  return "[" + out + "]";
}

/// Other sizes and other axes each time.
std::vector<std::string> random_space(std::mt19937& random) {
  const auto pick = [&](std::vector<std::string> values) {
    return values[random() % values.size()];
  };
  std::vector<std::string> out{
      "cluster.nodes=" + pick({"1", "2"}),
      "model.layers=" + pick({"4", "6", "8", "12"}),
      "model.hidden=" + pick({"1024", "2048", "8192"}),
      "training.global_batch=" + pick({"16", "24", "32"}),
      "training.stack=" + pick({"megatron-core-2024", "megatron-lm-2021", "torchtitan"}),
      "search.tensor=" + any_of<const char*>(random, {"1", "2", "4", "8"}),
      "search.context=" + any_of<const char*>(random, {"1", "2"}),
      "search.pipeline=" + any_of<const char*>(random, {"1", "2", "4"}),
      "search.micro_batch=" + any_of<const char*>(random, {"1", "2", "4"}),
      "search.zero=" + any_of<const char*>(random, {"0", "1", "2", "3"}),
      "search.schedule=" +
          any_of<const char*>(random, {"\"1f1b\"", "\"gpipe\"", "\"zb-h1\"", "\"dualpipe\""}),
      "search.recompute=" + any_of<const char*>(random, {"\"none\"", "\"selective\"", "\"full\""}),
      "search.context_exchange=[\"ring\"]"};
  if (random() % 2 == 0) {
    out.insert(out.end(),
               {"model.moe.experts=8", "model.moe.top_k=2", "model.moe.ffn_hidden=4096"});
  }
  return out;
}

TEST_CASE("search: pruned = exhaustive on random spaces, for every objective") {
  std::mt19937 random(7);
  std::int64_t pruned = 0, fitting = 0;
  for (int round = 0; round < 120; ++round) {
    const std::vector<std::string> settings = random_space(random);
    CAPTURE(round);
    CAPTURE(settings);
    Scenario scenario = small_scenario(settings);
    scenario.prices.electricity = DollarsPerJoule{0.15 / 3.6e6};
    SearchOptions options;
    options.objective = std::vector{Objective::step_time, Objective::step_time, Objective::cost,
                                    Objective::energy, Objective::memory}[random() % 5];
    options.top = 1 + random() % 4;
    options.threads = 1 + round % 3;
    SearchOptions whole = options;
    whole.exhaustive = true;
    whole.threads = 1;
    const SearchResult quick = search(scenario, options);
    const SearchResult all = search(scenario, whole);
    CHECK(signature(quick) == signature(all));
    CHECK(quick.enumerated == all.enumerated);
    CHECK(all.pruned == 0);
    CHECK(quick.evaluated + quick.pruned + quick.refused.total() == quick.enumerated);
    CHECK(all.evaluated + all.refused.total() == all.enumerated);
    pruned += quick.pruned;
    fitting += static_cast<std::int64_t>(all.best.size());
  }
  CHECK(pruned > 0);
  CHECK(fitting > 100);
}

TEST_CASE("search: no plan is faster than its lower bound") {
  std::mt19937 random(11);
  int timed = 0;
  for (int round = 0; round < 12; ++round) {
    const Scenario scenario = small_scenario(random_space(random));
    const PlanSpace space(scenario);
    PlanRater rater(scenario, Objective::step_time);
    for (const PlanCell& cell : space.cells()) {
      if (!rater.refusal(cell.plan).key.empty()) continue;
      const CellFloor floor = rater.floor_of(cell);
      space.visit(cell, [&](const Plan& plan) {
        if (!rater.refusal(plan).key.empty()) return;
        const FoundPlan found = rater.timed(rater.sized());
        CAPTURE(plan.pipeline);
        CAPTURE(plan.virtual_stages);
        CAPTURE(static_cast<int>(plan.schedule));
        CHECK(rater.least_step(floor, plan) <= found.step);
        CHECK(floor.score <= found.score);
        ++timed;
      });
    }
  }
  CHECK(timed > 500);
}

TEST_CASE("search: threads and parts change nothing") {
  const Scenario scenario = small_scenario({});
  SearchOptions options;
  options.threads = 1;
  options.pareto = true;
  const SearchResult alone = search(scenario, options);
  for (const int threads : {2, 4}) {
    options.threads = threads;
    const SearchResult other = search(scenario, options);
    CHECK(signature(other) == signature(alone));
    CHECK(other.evaluated == alone.evaluated);
    CHECK(other.pruned == alone.pruned);
    CHECK(other.pareto.size() == alone.pareto.size());
  }
  std::int64_t plans = 0;
  double best = alone.best.back().score;
  for (int part = 1; part <= 3; ++part) {
    options.part = part;
    options.parts = 3;
    const SearchResult piece = search(scenario, options);
    plans += piece.enumerated;
    best = std::min(best, piece.best.front().score);
  }
  CHECK(plans == alone.enumerated);
  CHECK(best == alone.best.front().score);
}

TEST_CASE("search: the front holds what no plan beats in time and memory at once") {
  const Scenario scenario = small_scenario({"search.context=[1]", "search.zero=[0, 1, 3]"});
  SearchOptions options;
  options.pareto = true;
  const SearchResult result = search(scenario, options);
  options.exhaustive = true;
  options.top = 1000;
  const SearchResult all = search(scenario, options);
  REQUIRE(result.pareto.size() > 3);
  REQUIRE(result.pareto.size() == all.pareto.size());
  for (std::size_t i = 0; i < all.pareto.size(); ++i) {
    CHECK(result.pareto[i].step == all.pareto[i].step);
    CHECK(result.pareto[i].used == all.pareto[i].used);
    for (const FoundPlan& other : all.best) {
      CHECK_FALSE((other.step < all.pareto[i].step && other.used < all.pareto[i].used));
    }
  }
}

TEST_CASE("search: where nothing fits, the plan that lacks least") {
  const Scenario scenario = small_scenario(
      {"model.hidden=32768", "model.ffn_hidden=131072", "model.layers=64", "cluster.nodes=1"});
  const SearchResult result = search(scenario, {});
  CHECK(result.best.empty());
  REQUIRE(result.nearest.has_value());
  CHECK(result.nearest->used > result.nearest->usable);
  CHECK(result.pruned == 0);
}

} // namespace
} // namespace clustersim
