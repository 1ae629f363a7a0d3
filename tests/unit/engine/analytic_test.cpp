// The analytic engine against a step-by-step replay of the program's stated semantics.

#include "engine/analytic.hpp"
#include "plan/lower.hpp"

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

Op random_op(std::mt19937& random) {
  std::uniform_int_distribution<int> kind(0, 5);
  std::uniform_real_distribution<double> size(1e3, 1e9);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  Op op;
  op.phase = kind(random) < 3 ? Phase::forward : Phase::backward;
  switch (kind(random)) {
  case 0:
    op.work = Join{kind(random) < 3 ? Lane::tensor : Lane::data};
    return op;
  case 1:
  case 2:
    op.lane = kind(random) < 3 ? Lane::tensor : Lane::data;
    op.work = Collective{CollectiveKind::all_reduce, Axis::tensor, {8, 1}, Bytes{size(random)}, 2};
    op.hidden = share(random);
    return op;
  case 3:
    op.work = GemmShape{512, 4096, 4096};
    return op;
  default:
    op.work = MemoryKernel{KernelClass::elementwise, Bytes{size(random)}, Flops{0}, 1};
    return op;
  }
}

StepProgram random_program(std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> few(1, 4);
  StepProgram program;
  for (std::size_t b = 0, blocks = few(random); b < blocks; ++b) {
    Block& block = program.blocks.emplace_back();
    for (std::size_t o = 0, ops = few(random) * 2; o < ops; ++o) {
      block.ops.push_back(random_op(random));
    }
  }
  for (std::size_t s = 0, sequences = few(random); s < sequences; ++s) {
    Sequence& sequence = program.sequences.emplace_back();
    for (std::size_t i = 0, items = few(random); i < items; ++i) {
      const bool nest = s > 0 && few(random) == 1;
      sequence.items.push_back({nest ? Item::What::sequence : Item::What::block,
                                few(random) % (nest ? s : program.blocks.size()),
                                static_cast<std::int64_t>(few(random) * 3 - 3)});
    }
  }
  program.classes.push_back({"all", 128, program.sequences.size() - 1});
  return program;
}

} // namespace

TEST_CASE("closed form equals the replay on random programs") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  std::mt19937 random(20240917); // NOLINT: a fixed seed is the point
  for (int round = 0; round < 300; ++round) {
    const StepProgram program = random_program(random);
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
