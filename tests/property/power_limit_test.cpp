// The buyer's rule on power limits, recomputed from operators (T. Dettmers, "Which GPU(s) to Get
// for Deep Learning", 2023, power section and figure 7): a limit 50 W lower, measured on RTX 2080
// Ti with BERT-large inference over 500 mini-batches, costs 7 %; the text carries that over to RTX
// 3090 at 300 of 350 W, with which four boards fit a 1600 W supply.

#include "pipeline.hpp"
#include "support/scenarios.hpp"

#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace clustersim {
namespace {

using test::close_to;

Scenario bert_large(const std::string& chip, double cap) {
  return test::shipped_scenario(
      "single_gpu_gpt2", {"model=bert-large", "cluster.node=desktop-1gpu",
                          "override.node.desktop-1gpu.node.chip=" + chip, "training.precision=fp16",
                          "training.sequence=384", "training.global_batch=8", "plan.micro_batch=8",
                          "power.cap=" + std::to_string(cap) + " W"});
}

Seconds inference(const std::string& chip, double cap) {
  const Scenario scenario = bert_large(chip, cap);
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  Seconds sum;
  for (const OpRecord& op : run_analytic(lower(scenario), cost).ops) {
    if (op.phase == Phase::forward && !op.axis)
      sum += op.each.kernel.total * static_cast<double>(op.calls);
  }
  return sum;
}

double kept(const std::string& chip, double limit, double cap) {
  return inference(chip, limit) / inference(chip, cap);
}

} // namespace

TEST_CASE("buyer's rule: 50 W less on RTX 2080 Ti costs 7 % of BERT-large inference, within 5 %") {
  const double speed = kept("rtx-2080-ti", 250.0, 200.0);
  CHECK(std::abs(speed - 0.93) <= 0.05);
  CHECK(speed < 1.0);
  // Each further 25 W costs more than the last.
  const double first = 1.0 - kept("rtx-2080-ti", 250.0, 225.0);
  const double third = kept("rtx-2080-ti", 250.0, 200.0) - kept("rtx-2080-ti", 250.0, 175.0);
  CHECK(third > first);
}

TEST_CASE("buyer's rule: carried over to RTX 3090, four boards at 300 W under a 1600 W supply") {
  // The text carries 7 % over without a measurement. The law finds less: this board's matrix units
  // run at half rate and do not spend the whole limit.
  const double speed = kept("rtx-3090", 350.0, 300.0);
  CHECK(speed >= 0.93 - 0.05);
  CHECK(speed <= 1.0);
  const double boards = 4.0 * 300.0, supply = 1600.0, stock = 4.0 * 350.0;
  CHECK(stock - boards == close_to(200.0));
  const double drawn = 4.0 * answer(bert_large("rtx-3090", 300.0)).energy.chip.busy.si();
  CHECK(drawn <= boards);
  CHECK(supply - drawn >= 400.0);
}

} // namespace clustersim
