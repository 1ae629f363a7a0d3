// Memory against published closed forms (docs/explanation/memory.md).

#include "examples.hpp"

#include "plan/activations.hpp"
#include "plan/memory.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

/// Korthikanti et al. 2022, table 3: 22B is 48 layers of 6144 with 64 heads, 175B 96 of 12288
/// with 96.
struct Published {
  double layers, hidden, heads, micro_batch;
};
constexpr Published models[] = {{48, 6144, 64, 4}, {96, 12288, 96, 1}};
constexpr double s = 2048;

Scenario megatron(const Published& published) {
  Transformer model = test::gpt3();
  model.layers = static_cast<std::int64_t>(published.layers);
  model.hidden = static_cast<std::int64_t>(published.hidden);
  model.heads = model.kv_heads = static_cast<std::int64_t>(published.heads);
  model.head_dim = model.hidden / model.heads;
  model.ffn_hidden = 4 * model.hidden;
  Scenario scenario = test::example(model, static_cast<std::int64_t>(s), "unfused");
  scenario.training.dropout = true;
  scenario.plan.micro_batch = static_cast<std::int64_t>(published.micro_batch);
  scenario.training.global_batch = scenario.plan.micro_batch;
  return scenario;
}

double kept(const Scenario& scenario) {
  return kept_per_layer(scenario, shard_of(scenario)).si();
}

double term(const Scenario& scenario, std::string_view name) {
  for (const MemoryTerm& each : memory_footprint(scenario).terms) {
    if (each.name == name) return each.bytes.si();
  }
  return 0.0;
}

} // namespace

TEST_CASE("activations of a layer, Korthikanti et al. 2022, table 2") {
  for (const Published& published : models) {
    const double h = published.hidden, a = published.heads, b = published.micro_batch;
    Scenario scenario = megatron(published);
    CHECK(kept(scenario) == close_to(s * b * h * (34 + 5 * a * s / h)));

    const int t = 8;
    test::spread(scenario, t, 1, 1);
    CHECK(kept(scenario) == close_to(s * b * h * (10 + 24.0 / t + 5 * a * s / (h * t))));
    scenario.plan.recompute = Recompute::selective;
    CHECK(kept(scenario) == close_to(s * b * h * (10 + 24.0 / t)));

    scenario.plan.sequence_parallel = true;
    CHECK(kept(scenario) == close_to(s * b * h * 34.0 / t));
    scenario.plan.recompute = Recompute::none;
    CHECK(kept(scenario) == close_to(s * b * h / t * (34 + 5 * a * s / h)));

    scenario.plan.recompute = Recompute::full;
    scenario.plan.sequence_parallel = false;
    CHECK(kept(scenario) == close_to(s * b * h * 2));
  }
}

TEST_CASE("fused attention keeps statistics in place of scores; a gated MLP three tensors") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  const double h = 8192, q = 8192, kv = 1024, f = 28672, heads = 64, tokens = 8192;
  const double per_token = 4 * 2 * h + 2 * (q + 2 * kv) + 2 * q + 4 * heads + 6 * f;
  CHECK(kept(scenario) == close_to(tokens * per_token));
}

TEST_CASE("the main job by hand, as on the page: 34,304 bytes per token and layer") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  scenario.plan.sequence_parallel = true;
  scenario.plan.recompute = Recompute::selective;
  test::spread(scenario, 8, 16, 2);
  CHECK(kept(scenario) == 34304.0 * 8192);
  const double per_token = 8.0 * 8192 / 8 + (2.0 * 10240 + 2.0 * 8192) / 8 + 6.0 * 28672 / 8;
  CHECK(per_token == 34304.0);
}

TEST_CASE("FP8 keeps its operands in one byte, and two layouts of the layer weights") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  scenario.training.precision = Precision::fp8;
  const double h = 8192, q = 8192, kv = 1024, f = 28672, heads = 64, tokens = 8192;
  const double per_token = 2 * (2 * h + h) + 2 * (q + 2 * kv) + (2 + 1) * q + 4 * heads +
                           2 * 2 * f + f; // gate and up in BF16, their product quantised
  CHECK(kept(scenario) == close_to(tokens * per_token));
  CHECK(term(scenario, "quantised weights") ==
        close_to(2.0 * 80 * local_parameters(scenario).per_layer));
}

TEST_CASE("mixed-precision Adam: 16 bytes per parameter with 16-bit gradients, 18 with FP32") {
  Scenario scenario = test::example(test::gpt3(), 2048);
  const double parameters = static_cast<double>(count_parameters(scenario.model).total);
  const auto states = [&] {
    return term(scenario, "weights") + term(scenario, "gradients") +
           term(scenario, "optimizer states");
  };
  CHECK(states() == close_to((2 + 4 + 12) * parameters));
  scenario.training.gradient_dtype = Precision::bf16;
  CHECK(states() == close_to((2 + 2 + 12) * parameters));
  scenario.training.optimizer.states.pop_back(); // a momentum alone
  CHECK(states() == close_to((2 + 2 + 8) * parameters));
}

TEST_CASE("FP32 weights under autocast are their own masters") {
  Scenario scenario = test::example(test::gpt3(), 2048);
  FusedKernel cast;
  cast.site = Site::cast;
  cast.forward = cast.backward = 3;
  scenario.training.stack.recipe.kernels.push_back(cast);
  const double parameters = static_cast<double>(count_parameters(scenario.model).total);
  CHECK(term(scenario, "weights") == close_to(4 * parameters));
  CHECK(term(scenario, "optimizer states") == close_to(8 * parameters));
}

TEST_CASE("shards hold the whole once, replicated vectors apart") {
  const Scenario one = test::example(test::gpt3(), 2048);
  const double whole = local_parameters(one).total;
  CHECK(whole == static_cast<double>(count_parameters(one.model).total));
  Scenario split = one;
  test::spread(split, 8, 1, 1);
  const double h = 12288;
  // Two norms of 2h and two output biases of h per layer; final norm; position table.
  const double replicated = 96 * (4 * h + 2 * h) + 2 * h + 2048 * h;
  CHECK(8 * local_parameters(split).total == close_to(whole + 7 * replicated, 1e-12));
}

TEST_CASE("K and V are repeated where ranks outnumber their heads") {
  Scenario scenario = test::example(test::llama3_70b(), 512);
  test::spread(scenario, 8, 1, 1);
  const double at_eight = local_parameters(scenario).per_layer;
  test::spread(scenario, 16, 1, 1);
  const double h = 8192, kv = 1024, f = 28672;
  CHECK(at_eight == close_to((2 * h * h + 2 * h * kv + 3 * h * f) / 8 + 2 * h));
  CHECK(local_parameters(scenario).per_layer ==
        close_to((2 * h * h + 3 * h * f) / 16 + 2 * h * 128 + 2 * h));
}

TEST_CASE("the larger of head and layer counts, not both") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  scenario.training.stack.head.logit_bytes = 10;
  CHECK(term(scenario, "logits and loss") == close_to(10.0 * 8192 * 128256));
  CHECK(term(scenario, "layer in backward") == 0.0);
  scenario.model.vocabulary = 1024;
  CHECK(term(scenario, "logits and loss") == 0.0);
  CHECK(term(scenario, "layer in backward") > 0.0);
}

TEST_CASE("a weight gradient outside the main gradient costs its largest matrix") {
  Scenario scenario = test::example(test::llama3_70b(), 512);
  scenario.model.vocabulary = 1024;
  const double before = term(scenario, "layer in backward");
  scenario.training.stack.gradient.accumulate_in_gemm = false;
  CHECK(term(scenario, "layer in backward") - before == close_to(4.0 * 8192 * 2 * 28672));
}

TEST_CASE("memory grows with the micro-batch and shrinks with tensor parallelism") {
  for (const char* attention : {"fused", "unfused"}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      Scenario scenario = test::example(test::gpt3(), 2048, attention);
      scenario.plan.recompute = recompute;
      Bytes last{0};
      for (const std::int64_t micro_batch : {1, 2, 4, 8}) {
        scenario.plan.micro_batch = scenario.training.global_batch = micro_batch;
        const Bytes peak = memory_footprint(scenario).peak;
        CHECK(peak > last);
        last = peak;
      }
      for (const int tensor : {2, 4, 8}) {
        scenario.plan.tensor = tensor;
        const Bytes peak = memory_footprint(scenario).peak;
        CHECK(peak < last);
        last = peak;
      }
    }
  }
}

TEST_CASE("recompute trades memory: full keeps least") {
  Scenario scenario = test::example(test::gpt3(), 2048, "unfused");
  const auto peak = [&](Recompute recompute) {
    scenario.plan.recompute = recompute;
    return memory_footprint(scenario).peak;
  };
  CHECK(peak(Recompute::selective) < peak(Recompute::none));
  CHECK(peak(Recompute::full) < peak(Recompute::selective));
}

TEST_CASE("full recompute by groups keeps one input each, by blocks the other layers whole") {
  Scenario scenario = test::example(test::gpt3(), 2048, "unfused");
  const Shard shard = shard_of(scenario);
  const double input = 2.0 * 2048 * 12288;
  const double whole = kept(scenario);
  scenario.plan.recompute = Recompute::full;
  CHECK(term(scenario, "activations") == close_to(96 * input));
  scenario.plan.recompute_layers = 4;
  CHECK(term(scenario, "activations") == close_to(96 / 4 * input));
  CHECK(restored_in_backward(scenario, shard, LayerKind::dense, 4).si() ==
        close_to(4 * whole - input));
  scenario.plan.recompute_layers = 5; // the last group is smaller
  CHECK(term(scenario, "activations") == close_to(20 * input));
  scenario.plan.recompute_method = RecomputeMethod::block;
  CHECK(term(scenario, "activations") == close_to(5 * input + (96 - 5) * whole));
}

TEST_CASE("a block of recomputed layers runs as many forward passes again") {
  Scenario scenario = test::example(test::gpt3(), 2048, "unfused");
  const auto products = [&] { return test::sum_over_step(lower(scenario), test::gemm_flops); };
  const double none = products();
  scenario.plan.recompute = Recompute::full;
  const double full = products();
  scenario.plan.recompute_method = RecomputeMethod::block;
  scenario.plan.recompute_layers = 24;
  CHECK(products() - none == close_to((full - none) * 24 / 96));
}

TEST_CASE("the per-operator policy keeps q, v, attention, gate and down, and runs k, o and up") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  const double h = 8192, kv = 1024, f = 28672, heads = 64, tokens = 8192;
  const auto products = [&] { return test::sum_over_step(lower(scenario), test::gemm_flops); };
  const double none = products();
  scenario.plan.recompute = Recompute::operators;
  CHECK(kept(scenario) == close_to(tokens * (2 * (h + h + kv + h + f + h) + 4 * heads)));
  CHECK(products() - none == close_to(80 * 2 * tokens * h * (kv + h + f)));
}

TEST_CASE("gradients kept until a pass ends lie beside the main ones, unless of one type") {
  Scenario scenario = test::example(test::gpt3(), 2048);
  scenario.training.stack.gradient.accumulate_in_gemm = false;
  scenario.training.stack.gradient.kept_until_pass_ends = true;
  const double parameters = static_cast<double>(count_parameters(scenario.model).total);
  CHECK(term(scenario, "fresh gradients") == close_to(2 * parameters));
  scenario.training.gradient_dtype = Precision::bf16;
  CHECK(term(scenario, "fresh gradients") == 0.0);
}

TEST_CASE("all-to-all attention keeps its output in both layouts") {
  Scenario scenario = test::example(test::gpt3(), 2048);
  test::spread(scenario, 1, 1, 1);
  scenario.plan.context = 2;
  const double ring = kept(scenario);
  scenario.plan.context_exchange = ContextExchange::ulysses;
  CHECK(kept(scenario) - ring == close_to(2.0 * 1024 * 12288));
}

TEST_CASE("free blocks of the allocator are reserve, not peak") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  const MemoryFootprint before = memory_footprint(scenario);
  scenario.training.stack.memory.fragmentation = 0.05;
  const MemoryFootprint after = memory_footprint(scenario);
  CHECK(after.peak == before.peak);
  CHECK((after.reserve - before.reserve).si() == close_to(0.05 * before.peak.si()));
}

TEST_CASE("terms are positive and add up to the peak") {
  Scenario scenario = test::example(test::llama3_70b(), 8192);
  scenario.training.stack.memory.fragmentation = 0.05;
  scenario.training.stack.memory.workspace = Bytes{1e8};
  const MemoryFootprint footprint = memory_footprint(scenario);
  Bytes sum;
  for (const MemoryTerm& each : footprint.terms) {
    CHECK(each.bytes > Bytes{0});
    sum += each.bytes;
  }
  CHECK(sum == footprint.peak);
}
