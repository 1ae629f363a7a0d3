// One job on unlike partitions: shares, their optimum, and that like partitions are one cluster.

#include "engine/balance.hpp"
#include "engine/job.hpp"
#include "pipeline.hpp"
#include "report/answer.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

constexpr const char* rest = R"(
[model]
use = "llama-2-7b"

[training]
sequence = 4096
global_batch = 96
gradient_dtype = "bf16"
stack = "megatron-core-2024"

[plan]
zero = 1
recompute = "full"
)";

Scenario parsed(const std::string& cluster, const std::vector<std::string>& settings = {}) {
  Diagnostics diagnostics;
  const auto scenario = parse_scenario("schema = 1\n" + cluster + rest, "mixed.toml",
                                       test::shipped_catalogue(), {settings}, diagnostics);
  REQUIRE_MESSAGE(scenario.has_value(), render(diagnostics, false));
  return *scenario;
}

/// One server of eight RTX 6000 Ada and one of eight H100.
Scenario unlike(const std::vector<std::string>& settings = {}) {
  return parsed("[cluster]\nbetween = \"roce-400-fat-tree\"\n"
                "[[cluster.partition]]\nnode = \"srv-8x-6000ada\"\n"
                "[[cluster.partition]]\nnode = \"hgx-h100-8-roce\"\n",
                settings);
}

/// The same time whichever way it is asked for.
Seconds step_of(const Scenario& scenario, const std::vector<std::int64_t>& shares,
                Network& network) {
  return job_time(mixed_job(scenario, shares), network).step;
}

} // namespace

TEST_CASE("two like partitions are one homogeneous cluster, to the last bit") {
  for (const std::vector<std::string>& settings : {std::vector<std::string>{},
                                                   {"tensor=4", "sequence_parallel=true", "zero=3"},
                                                   {"pipeline=2", "tensor=2", "zero=0"}}) {
    std::vector<std::string> placed = settings;
    placed.emplace_back("plan.placement=tp-cp-ep-pp-dp");
    const Answer one = answer(parsed("[cluster]\nnode = \"hgx-h100-8-roce\"\nnodes = 2\n"
                                     "fabric = \"single-switch-ndr\"\n",
                                     placed));
    const Answer two = answer(parsed("[cluster]\nbetween = \"single-switch-ndr\"\n"
                                     "[[cluster.partition]]\nnode = \"hgx-h100-8-roce\"\n"
                                     "[[cluster.partition]]\nnode = \"hgx-h100-8-roce\"\n",
                                     placed));
    REQUIRE(two.balance.has_value());
    for (const PartitionAnswer& part : two.partitions) {
      CHECK(part.share.micro_batches == one.scenario.micro_batches());
      CHECK(part.memory.peak == one.memory.peak);
    }
    CHECK(two.balance->step == two.balance->equal);
    CHECK(two.timeline.step == one.timeline.step);
    REQUIRE(two.timeline.breakdown.size() == one.timeline.breakdown.size());
    for (std::size_t i = 0; i < one.timeline.breakdown.size(); ++i) {
      INFO(one.timeline.breakdown[i].name);
      CHECK(two.timeline.breakdown[i].name == one.timeline.breakdown[i].name);
      CHECK(two.timeline.breakdown[i].time == one.timeline.breakdown[i].time);
    }
    CHECK(two.headline.mfu == one.headline.mfu);
    CHECK(two.headline.hfu == one.headline.hfu);
    CHECK(two.headline.peak_basis == one.headline.peak_basis);
    CHECK(two.energy.per_step == one.energy.per_step);
    CHECK(two.explanation.verdict == one.explanation.verdict);
    REQUIRE(two.explanation.elasticities.size() == one.explanation.elasticities.size());
    for (std::size_t i = 0; i < one.explanation.elasticities.size(); ++i)
      CHECK(two.explanation.elasticities[i].value == one.explanation.elasticities[i].value);
  }
}

TEST_CASE("shares make up the batch, no shares are better, and cut ones hardly") {
  for (const int batch : {16, 17, 41, 96, 97, 250}) {
    CAPTURE(batch);
    const Scenario scenario = unlike({fmt::format("global_batch={}", batch)});
    Network network(scenario.cluster);
    const Balance found = balance(scenario, network);
    std::int64_t all = 0;
    for (const PartitionShare& share : found.partitions) {
      CHECK(share.replicas == 8);
      CHECK(share.micro_batches >= 1);
      CHECK(share.all <= share.replicas * share.micro_batches);
      CHECK(share.all > share.replicas * (share.micro_batches - 1));
      all += share.all;
    }
    CHECK(all == batch);
    Seconds best = found.step;
    for (std::int64_t few = 1; few <= (batch + 7) / 8; ++few) {
      const std::int64_t others = std::max<std::int64_t>(1, (batch - 8 * few + 7) / 8);
      best = std::min(best, step_of(scenario, {few, others}, network));
    }
    CHECK(found.step.si() == close_to(best.si(), 1e-12));
    CHECK(found.ideal.si() <= found.step.si() * (1 + 1e-9));
    CHECK(found.step <= found.equal);
  }
}

TEST_CASE("the faster partition does more, and more work or slower chips never shorten the step") {
  Seconds before;
  for (int batch = 16; batch <= 160; batch += 16) {
    const Scenario scenario = unlike({fmt::format("global_batch={}", batch)});
    Network network(scenario.cluster);
    const Balance found = balance(scenario, network);
    CHECK(found.step >= before);
    before = found.step;
    CHECK(found.partitions[1].all >= found.partitions[0].all);
    Scenario slower = scenario;
    slower.cluster.partitions[0].node.chip.memory.bandwidth *= 0.5;
    Network same(slower.cluster);
    CHECK(balance(slower, same).step >= found.step);
  }
}

TEST_CASE("schedules that deal out micro-batches by multiples get multiples") {
  const Scenario scenario =
      unlike({"pipeline=4", "tensor=1", "virtual_stages=2", "global_batch=96", "zero=0"});
  Network network(scenario.cluster);
  std::int64_t all = 0;
  for (const PartitionShare& share : balance(scenario, network).partitions) {
    CHECK(share.replicas == 2);
    CHECK(share.micro_batches % 4 == 0);
    CHECK(share.all % 4 == 0);
    all += share.all;
  }
  CHECK(all == 96);
}

TEST_CASE("the parts of every partition's step add up to the step of the job") {
  const Answer result = answer(unlike());
  REQUIRE(result.partitions.size() == 2);
  for (const PartitionAnswer& part : result.partitions) {
    Seconds sum;
    for (const BreakdownItem& item : part.timeline.breakdown) {
      CHECK(item.time.si() >= -1e-9 * sum.si());
      sum += item.time;
    }
    CHECK(sum.si() == close_to(result.timeline.step.si()));
  }
  double slopes = 0.0;
  for (const Elasticity& one : result.explanation.elasticities)
    slopes += one.value;
  CHECK(slopes == close_to(1.0, 0.05)); // one-sided, at a kink where both partitions end together
  CHECK(result.headline.mfu > 0.0);
  CHECK(result.headline.mfu <= result.headline.hfu);
}

TEST_CASE("what fits large cards and not small ones is said of the small ones") {
  const Answer result = answer(unlike({"recompute=none", "zero=0"}));
  REQUIRE(result.partitions.size() == 2);
  CHECK_FALSE(result.partitions[0].memory.fits());
  CHECK(result.partitions[1].memory.margin() > result.partitions[0].memory.margin());
  CHECK(result.memory.margin() == result.partitions[0].memory.margin());
  CHECK_FALSE(result.memory.fits());
  const std::string text = render_text(result, {});
  CHECK_MESSAGE(text.find("Does not fit on " + result.partitions[0].scenario.chip().name) !=
                    std::string::npos,
                text);
}
