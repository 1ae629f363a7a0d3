// Memory of pipeline stages and of ZeRO's stages.

#include "plan/activations.hpp"
#include "plan/memory.hpp"
#include "plan/stage.hpp"

#include "examples.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Bytes term(const std::vector<MemoryTerm>& terms, std::string_view name) {
  for (const MemoryTerm& one : terms) {
    if (one.name == name) return one.bytes;
  }
  return Bytes{0};
}

Bytes term(const MemoryFootprint& memory, std::string_view name) {
  return term(memory.terms, name);
}

} // namespace

TEST_CASE("layers are shared out evenly, what is left over in the middle") {
  CHECK(share_layers(80, 8, false) == std::vector<std::int64_t>(8, 10));
  CHECK(share_layers(126, 16, true) ==
        std::vector<std::int64_t>{7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7});
  CHECK(share_layers(6, 4, false) == std::vector<std::int64_t>{1, 2, 2, 1});
  for (std::int64_t layers = 1; layers < 40; ++layers) {
    for (std::int64_t places = 1; places <= layers; ++places) {
      const auto shares = share_layers(layers, places, false);
      CHECK(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}) == layers);
    }
  }
}

TEST_CASE("stages hold all parameters once, a tied table twice") {
  Scenario scenario = test::example(test::small_gpt(8, 8), 256);
  const double whole = local_parameters(scenario).total;
  scenario.plan.pipeline = 4;
  scenario.plan.virtual_stages = 2;
  double sum = 0.0;
  for (const Stage& stage : stages_of(scenario))
    sum += parameters_of(scenario, stage).total();
  const double table = static_cast<double>(scenario.model.vocabulary * scenario.model.hidden);
  CHECK(sum == close_to(whole + (scenario.model.tied_embeddings ? table : 0.0)));
}

TEST_CASE("1F1B: stage p keeps P - p micro-batches") {
  Scenario scenario = test::example(test::small_gpt(8, 8), 256);
  scenario.plan.pipeline = 4;
  scenario.plan.data = 1;
  scenario.plan.micro_batch = 1;
  scenario.training.global_batch = 16;
  const MemoryFootprint memory = memory_footprint(scenario);
  const Bytes layer = kept_per_layer(scenario, shard_of(scenario));
  REQUIRE(memory.stages.size() == 4);
  for (std::size_t p = 0; p < 4; ++p) {
    CHECK(term(memory.stages[p].terms, "activations").si() ==
          close_to((4.0 - static_cast<double>(p)) * 2.0 * layer.si()));
  }
}

TEST_CASE("ZeRO: 16 bytes per parameter, then 4 + 12/N, 2 + 14/N and 16/N") {
  // Rajbhandari et al. 2020 (arXiv 1910.02054), figure 1 and table 1: 16-bit weights and gradients,
  // FP32 master weights and two moments (K = 12).
  Scenario scenario = test::example(test::small_gpt(8, 8), 256);
  scenario.training.precision = Precision::bf16;
  scenario.training.gradient_dtype = Precision::bf16;
  const double psi = local_parameters(scenario).total;
  const auto states = [&](int zero, int data) {
    scenario.plan.zero = zero;
    scenario.plan.data = data;
    scenario.training.global_batch = data * scenario.plan.micro_batch;
    const MemoryFootprint memory = memory_footprint(scenario);
    return (term(memory, "weights") + term(memory, "gradients") + term(memory, "optimizer states"))
        .si();
  };
  for (const int n : {4, 16, 64, 256, 1024}) {
    CHECK(states(0, n) == close_to((2.0 + 2.0 + 12.0) * psi));
    CHECK(states(1, n) == close_to((2.0 + 2.0 + 12.0 / n) * psi));
    CHECK(states(2, n) == close_to((2.0 + (2.0 + 12.0) / n) * psi));
    CHECK(states(3, n) == close_to((2.0 + 2.0 + 12.0) / n * psi));
  }
  scenario.plan.hybrid_shard = 8;
  CHECK(states(3, 64) == close_to((2.0 + 2.0 + 12.0) / 8.0 * psi));
}

TEST_CASE("ZeRO-3 keeps two gathered layers beside embedding and head") {
  Scenario scenario = test::example(test::small_gpt(8, 8), 256);
  scenario.plan.zero = 3;
  scenario.plan.data = 8;
  scenario.training.global_batch = 8 * scenario.plan.micro_batch;
  const LocalParameters local = local_parameters(scenario);
  const Bytes element = shard_of(scenario).element;
  CHECK(term(memory_footprint(scenario), "gathered layers").si() ==
        close_to(((2.0 * local.per_layer + local.embedding + local.head) * element).si()));
}
