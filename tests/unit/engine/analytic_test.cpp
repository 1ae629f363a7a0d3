// The analytic engine against a step-by-step replay of the program's stated semantics.

#include "engine/analytic.hpp"
#include "plan/lower.hpp"
#include "random_programs.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

/// Replays every call of every operator in order: what the closed form must equal.
class Replay {
public:
  Replay(const StepProgram& program, CostModel& cost) : program_(&program), cost_(&cost) {}

  double run(std::size_t rank_class) {
    sequence(program_->classes[rank_class].sequence);
    return std::max(host_, *std::max_element(lanes_.begin(), lanes_.end()));
  }

private:
  void sequence(std::size_t index) {
    for (const Item& item : program_->sequences[index].items) {
      for (std::int64_t i = 0; i < item.count; ++i) {
        if (item.what == Item::What::sequence) {
          sequence(item.index);
        } else {
          for (const Op& op : program_->blocks[item.index].ops) {
            call(op);
          }
        }
      }
    }
  }

  void call(const Op& op) {
    double& compute = lanes_[0];
    if (const auto* join = std::get_if<Join>(&op.work)) {
      compute = std::max(compute, lanes_[static_cast<std::size_t>(join->lane)]);
      return;
    }
    const OpTime time = cost_->time(op);
    host_ += time.host.si();
    compute = std::max(compute, host_);
    const double device = time.device.si();
    if (op.lane == Lane::compute) {
      compute += device;
      return;
    }
    double& lane = lanes_[static_cast<std::size_t>(op.lane)];
    compute += (1.0 - op.hidden) * device;
    lane = std::max(lane, compute) + op.hidden * device;
    compute += cost_->tax() * op.hidden * device;
  }

  const StepProgram* program_;
  CostModel* cost_;
  double host_ = 0.0;
  std::array<double, lane_count> lanes_{};
};

} // namespace

TEST_CASE("closed form equals the replay on random programs") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  std::mt19937 random(20240917); // NOLINT: a fixed seed is the point
  for (int round = 0; round < 300; ++round) {
    const StepProgram program = test::random_program(random);
    const double replayed = Replay(program, cost).run(0) * cost.straggler();
    CHECK(step_time(program, cost).si() == close_to(replayed, 1e-9));
    CHECK(run_analytic(program, cost).step.si() == close_to(replayed, 1e-9));
  }
}

TEST_CASE("closed form equals the replay on the main job") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const StepProgram program = lower(scenario);
  const double replayed = Replay(program, cost).run(0) * cost.straggler();
  CHECK(step_time(program, cost).si() == close_to(replayed, 1e-9));
}

TEST_CASE("the breakdown sums to the step and no share is negative") {
  for (const char* name : {"dgx_h100", "single_gpu_gpt2", "rtx4090_workstation", "bert_large"}) {
    const Scenario scenario = test::shipped_scenario(name);
    Network network(scenario.cluster);
    CostModel cost(scenario, network);
    const Timeline timeline = run_analytic(lower(scenario), cost);
    Seconds sum;
    for (const BreakdownItem& item : timeline.breakdown) {
      CHECK_MESSAGE(item.time.si() >= -1e-12, name << " " << item.name);
      sum += item.time;
    }
    CHECK(sum == timeline.step);
  }
}

TEST_CASE("a machine that is twice as fast in everything takes half the time") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  Network network(scenario.cluster);
  const StepProgram program = lower(scenario);
  CostModel cost(scenario, network);
  ResourceScale twice{2, 2, 2, 2, 2, 2, {}};
  for (const Link& link : network.graph.link_classes()) {
    twice.links[link.id] = {2, 2};
  }
  CostModel fast(scenario, network, twice);
  CHECK(step_time(program, fast).si() == close_to(step_time(program, cost).si() / 2, 1e-9));
}
