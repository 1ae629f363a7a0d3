// The shape of the program: which operators, how often, in which order.

#include "examples.hpp"

#include "base/bug.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace clustersim;

namespace {

std::int64_t count(const Block& block, const std::function<bool(const Op&)>& wanted) {
  return std::ranges::count_if(block.ops, wanted);
}

bool is_gemm(const Op& op) {
  return std::holds_alternative<GemmShape>(op.work);
}

std::function<bool(const Op&)> is_collective(CollectiveKind kind) {
  return [kind](const Op& op) {
    const auto* collective = std::get_if<Collective>(&op.work);
    return collective != nullptr && collective->kind == kind && collective->axis == Axis::tensor;
  };
}

Scenario split(bool sequence_parallel) {
  Scenario scenario = test::example(test::small_gpt(4, 8), 256);
  scenario.plan.sequence_parallel = sequence_parallel;
  test::spread(scenario, 4, 2, 3);
  return scenario;
}

} // namespace

TEST_CASE("a layer has four weight products, and two more for each in backward") {
  const StepProgram program = lower(test::example(test::small_gpt(4, 8), 256));
  CHECK(count(test::block_named(program, "layer forward"), is_gemm) == 4);
  CHECK(count(test::block_named(program, "layer backward"), is_gemm) == 8);
  const StepProgram unfused = lower(test::example(test::small_gpt(4, 8), 256, "unfused"));
  CHECK(count(test::block_named(unfused, "layer forward"), is_gemm) == 4 + 2);
  CHECK(count(test::block_named(unfused, "layer backward"), is_gemm) == 8 + 4);
}

TEST_CASE("tensor parallelism: two all-reduces forward, two backward") {
  const StepProgram program = lower(split(false));
  using enum CollectiveKind;
  CHECK(count(test::block_named(program, "layer forward"), is_collective(all_reduce)) == 2);
  CHECK(count(test::block_named(program, "layer backward"), is_collective(all_reduce)) == 2);
}

TEST_CASE("sequence parallelism: ten half volumes against eight") {
  const StepProgram program = lower(split(true));
  using enum CollectiveKind;
  const Block forward = test::block_named(program, "layer forward");
  const Block backward = test::block_named(program, "layer backward");
  CHECK(count(forward, is_collective(all_gather)) == 2);
  CHECK(count(forward, is_collective(reduce_scatter)) == 2);
  CHECK(count(backward, is_collective(all_gather)) == 4); // gradients, and inputs once more
  CHECK(count(backward, is_collective(reduce_scatter)) == 2);
  CHECK(count(forward, is_collective(all_reduce)) == 0);
}

TEST_CASE("a parallel block joins its group once a pass") {
  Scenario scenario = split(false);
  scenario.model.parallel_block = true;
  scenario.model.layer_norms = 1;
  using enum CollectiveKind;
  CHECK(count(test::block_named(lower(scenario), "layer forward"), is_collective(all_reduce)) == 1);
  CHECK(count(test::block_named(lower(scenario), "layer backward"), is_collective(all_reduce)) ==
        1);
  scenario.plan.sequence_parallel = true;
  const StepProgram program = lower(scenario);
  CHECK(count(test::block_named(program, "layer forward"), is_collective(all_gather)) == 1);
  CHECK(count(test::block_named(program, "layer backward"), is_collective(all_gather)) == 2);
  CHECK(count(test::block_named(program, "layer backward"), is_collective(reduce_scatter)) == 1);
}

TEST_CASE("every layer runs once forward and once backward per micro-batch") {
  for (const int data : {1, 2}) {
    for (const std::int64_t micro_batches : {1, 2, 3, 9}) {
      for (const double gather : {0.0, 0.5}) {
        Scenario scenario = test::example(test::small_gpt(5, 4), 128);
        scenario.plan.zero = 1;
        scenario.training.stack.overlap.gather = gather;
        test::spread(scenario, 1, data, micro_batches);
        std::int64_t forward = 0, backward = 0, heads = 0;
        test::for_each_op(lower(scenario), [&](const Op& op, std::int64_t calls) {
          if (op.name == "qkv projection") forward += calls;
          if (op.name == "qkv projection, weight gradient") backward += calls;
          if (op.name == "vocabulary head, weight gradient") heads += calls;
        });
        CHECK(forward == 5 * micro_batches);
        CHECK(backward == 5 * micro_batches);
        CHECK(heads == micro_batches);
      }
    }
  }
}

TEST_CASE("full recompute adds exactly one forward pass of each layer") {
  Scenario scenario = split(true);
  scenario.plan.recompute = Recompute::full;
  const StepProgram program = lower(scenario);
  const Block forward = test::block_named(program, "layer forward");
  const Block backward = test::block_named(program, "layer backward");
  std::vector<Op> again;
  std::ranges::copy_if(backward.ops, std::back_inserter(again),
                       [](const Op& op) { return op.phase == Phase::recompute; });
  REQUIRE(again.size() == forward.ops.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    CHECK(again[i].name == forward.ops[i].name);
    CHECK(again[i].work.index() == forward.ops[i].work.index());
    CHECK(test::gemm_flops(again[i]) == test::gemm_flops(forward.ops[i]));
    CHECK(again[i].model_flops == Flops{0});
  }
  scenario.plan.recompute = Recompute::none;
  CHECK(test::block_named(lower(scenario), "layer backward").ops.size() ==
        backward.ops.size() - forward.ops.size());
}

TEST_CASE("selective recompute runs the attention core again and nothing else") {
  Scenario scenario = test::example(test::small_gpt(4, 8), 256, "unfused");
  scenario.plan.recompute = Recompute::selective;
  const StepProgram program = lower(scenario);
  std::vector<std::string> again;
  for (const Op& op : test::block_named(program, "layer backward").ops) {
    if (op.phase == Phase::recompute) again.push_back(op.name);
  }
  CHECK(again == std::vector<std::string>{"attention scores", "kernel", "attention over values"});
}

TEST_CASE("a hidden collective is issued beside its product and waited for after it") {
  Scenario scenario = split(true);
  scenario.training.stack.overlap.tensor = 0.5;
  const Block forward = test::block_named(lower(scenario), "layer forward");
  for (std::size_t i = 0; i < forward.ops.size(); ++i) {
    if (!std::holds_alternative<Collective>(forward.ops[i].work)) continue;
    CHECK(forward.ops[i].hidden == 0.5);
    bool waited = false, product = false;
    for (std::size_t j = i + 1; j < forward.ops.size() && !waited; ++j) {
      product = product || is_gemm(forward.ops[j]);
      waited = std::holds_alternative<Join>(forward.ops[j].work);
    }
    CHECK(product);
    CHECK(waited);
  }
}

TEST_CASE("quantised layers keep attention and head in 16 bits") {
  Scenario scenario = test::example(test::small_gpt(4, 8), 256);
  scenario.training.precision = Precision::fp8;
  const StepProgram program = lower(scenario);
  for (const Op& op : test::block_named(program, "layer forward").ops) {
    if (const auto* gemm = std::get_if<GemmShape>(&op.work)) {
      CHECK(gemm->precision == Precision::fp8);
    }
    if (const auto* attention = std::get_if<AttentionShape>(&op.work)) {
      CHECK(attention->precision == Precision::bf16);
    }
  }
  for (const Op& op : test::block_named(program, "head forward").ops) {
    if (const auto* gemm = std::get_if<GemmShape>(&op.work)) {
      CHECK(gemm->precision == Precision::bf16);
    }
  }
}

TEST_CASE("TF32 training runs unfused attention on TF32 units and stores FP32") {
  Scenario scenario = test::example(test::small_gpt(4, 8), 256);
  scenario.training.precision = Precision::tf32;
  for (const Op& op : test::block_named(lower(scenario), "layer forward").ops) {
    if (const auto* gemm = std::get_if<GemmShape>(&op.work)) {
      CHECK(gemm->precision == Precision::tf32);
      CHECK(gemm->output == Precision::fp32);
    }
  }
}

TEST_CASE("FP32 training has no fused attention") {
  Scenario scenario = test::example(test::small_gpt(4, 8), 256, "fused");
  scenario.training.precision = Precision::fp32;
  const StepProgram program = lower(scenario);
  CHECK(count(test::block_named(program, "layer forward"), is_gemm) == 6);
}

TEST_CASE("gradients are added by their GEMMs or by kernels, not by both") {
  const auto added = [](const Scenario& scenario) {
    std::int64_t kernels = 0;
    for (const Op& op : test::block_named(lower(scenario), "layer backward").ops) {
      const auto* gemm = std::get_if<GemmShape>(&op.work);
      kernels += gemm != nullptr && gemm->accumulate ? 0 : 1;
    }
    return kernels;
  };
  Scenario scenario = test::example(test::small_gpt(4, 8), 256);
  scenario.training.stack.gradient.accumulate_in_gemm = true;
  const std::int64_t in_gemm = added(scenario);
  scenario.training.stack.gradient.accumulate_in_gemm = false;
  CHECK(added(scenario) == in_gemm + 4 + 1); // four products no longer add, one kernel does
}

TEST_CASE("a plan that validation refuses is a bug here") {
  Scenario scenario = test::example(test::small_gpt(4, 8), 256);
  scenario.plan.pipeline = 2;
  scenario.plan.virtual_stages = static_cast<int>(scenario.model.layers);
  CHECK_THROWS_AS(static_cast<void>(lower(scenario)), Bug);
}
