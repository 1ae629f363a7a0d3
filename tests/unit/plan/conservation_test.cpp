// What lowering must neither lose nor invent: model FLOPs, GEMM work over shards, bytes of
// gradients.

#include "examples.hpp"

#include "plan/shard.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

double program_gemm_flops(const Scenario& scenario) {
  const StepProgram program = lower(scenario);
  return test::sum_over_step(program, test::gemm_flops) *
         static_cast<double>(program.classes.at(0).ranks);
}

} // namespace

TEST_CASE("model FLOPs of the program are those of the formula, whatever the plan") {
  for (const char* attention : {"fused", "unfused"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      for (const int tensor : {1, 2, 8}) {
        for (const bool parallel : {false, true}) {
          Scenario scenario = test::example(test::llama3_70b(), 4096, attention);
          scenario.model.parallel_block = parallel;
          scenario.model.layer_norms = parallel ? 1 : 2;
          scenario.plan.recompute = recompute;
          scenario.plan.sequence_parallel = tensor > 2;
          scenario.plan.micro_batch = 2;
          test::spread(scenario, tensor, 3, 5);
          CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
        }
      }
    }
  }
}

TEST_CASE("model FLOPs hold where heads do not divide and K/V heads are fewer than ranks") {
  Scenario scenario = test::example(test::llama3_70b(), 512);
  test::spread(scenario, 16, 1, 1); // 8 K/V heads on 16 ranks
  CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
}

TEST_CASE("encoders: masked-language head and pooler are counted once") {
  Scenario scenario = test::example(test::small_gpt(3, 4), 256);
  scenario.model.architecture = Architecture::encoder;
  scenario.model.causal = false;
  scenario.model.mlm_head = scenario.model.pooler = true;
  test::spread(scenario, 4, 2, 2);
  CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
}

TEST_CASE("a masked-language head that gathers its tokens first works on these alone") {
  Scenario scenario = test::example(test::small_gpt(3, 4), 256);
  scenario.model.architecture = Architecture::encoder;
  scenario.model.causal = false;
  scenario.model.mlm_head = true;
  const double all = model_flops(scenario).si();
  const double hidden = 256, vocabulary = 8192, masked = 40;
  scenario.training.masked_tokens = 40;
  CHECK(all - model_flops(scenario).si() ==
        close_to(3 * 2 * (256 - masked) * (hidden * vocabulary + hidden * hidden), 1e-12));
  for (const int tensor : {1, 2, 4}) {
    test::spread(scenario, tensor, 2, 2);
    CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
  }
  scenario.training.masked_tokens = 1000; // more than a sequence has
  test::spread(scenario, 1, 1, 1);
  CHECK(model_flops(scenario).si() == close_to(all, 1e-12));
}

TEST_CASE("matrix products: 3 x forward of every weight, and shards add up to the whole") {
  Scenario scenario = test::example(test::llama3_70b(), 1024);
  const double h = 8192, kv = 1024, f = 28672, V = 128256, tokens = 1024;
  const double weights = 80 * (2 * h * h + 2 * h * kv + 3 * h * f) + h * V;
  const double whole = program_gemm_flops(scenario);
  CHECK(whole == close_to(3 * 2 * tokens * weights, 1e-12));
  for (const int tensor : {2, 4, 8}) {
    test::spread(scenario, tensor, 1, 1);
    CHECK(program_gemm_flops(scenario) == close_to(whole, 1e-12));
  }
}

TEST_CASE("unfused attention computes the masked half too") {
  const Scenario fused = test::example(test::small_gpt(2, 4), 512);
  const Scenario unfused = test::example(test::small_gpt(2, 4), 512, "unfused");
  const double square = 2.0 * 512 * 512 * 256; // one product of one layer
  CHECK(program_gemm_flops(unfused) - program_gemm_flops(fused) == close_to(2 * 6 * square));
}

TEST_CASE("every gradient byte is reduced once a step, whatever the bucket") {
  for (const double bucket : {0.0, 1.0, 3e5, 1e8, 1e15}) {
    for (const std::int64_t micro_batches : {1, 2, 7}) {
      Scenario scenario = test::example(test::small_gpt(7, 4), 128);
      scenario.training.stack.overlap.bucket = Bytes{bucket};
      test::spread(scenario, 2, 4, micro_batches);
      const double bytes = test::sum_over_step(
          lower(scenario), [](const Op& op) { return test::payload(op, Axis::data); });
      CHECK(bytes == close_to(4.0 * local_parameters(scenario).total, 1e-12));
    }
  }
}

TEST_CASE("ZeRO-1 scatters the gradients and gathers the parameters, hidden or not") {
  for (const double hidden : {0.0, 0.9}) {
    Scenario scenario = test::example(test::small_gpt(7, 4), 128);
    scenario.training.stack.overlap.gather = hidden;
    scenario.plan.zero = 1;
    test::spread(scenario, 2, 4, 3);
    const auto carried = [&](CollectiveKind kind) {
      return test::sum_over_step(lower(scenario), [kind](const Op& op) {
        const auto* collective = std::get_if<Collective>(&op.work);
        return collective != nullptr && collective->kind == kind ? test::payload(op, Axis::data)
                                                                 : 0.0;
      });
    };
    const double parameters = local_parameters(scenario).total;
    CHECK(carried(CollectiveKind::reduce_scatter) == close_to(4.0 * parameters));
    CHECK(carried(CollectiveKind::all_gather) == close_to(2.0 * parameters));
    CHECK(carried(CollectiveKind::all_reduce) == 4.0); // the scalar of the gradient norm
  }
}

TEST_CASE("one rank communicates with nobody") {
  Scenario scenario = test::example(test::small_gpt(4, 4), 128);
  scenario.plan.zero = 1;
  scenario.plan.sequence_parallel = true;
  test::spread(scenario, 1, 1, 6);
  test::for_each_op(lower(scenario), [](const Op& op, std::int64_t) {
    CHECK_FALSE(std::holds_alternative<Collective>(op.work));
  });
}
