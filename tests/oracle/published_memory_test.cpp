// Memory figures that papers print.

#include "plan/activations.hpp"
#include "plan/memory.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Bytes term(const MemoryFootprint& memory, std::string_view name) {
  for (const MemoryTerm& candidate : memory.terms) {
    if (candidate.name == name) return candidate.bytes;
  }
  return Bytes{0};
}

Scenario loaded(const std::string& text) {
  Diagnostics diagnostics;
  const auto scenario =
      parse_scenario(text, "published.toml", test::shipped_catalogue(), {}, diagnostics);
  REQUIRE_MESSAGE(scenario.has_value(), render(diagnostics, false));
  return *scenario;
}

/// Korthikanti et al. 2022 (arXiv 2205.05198), table 3: 16-bit GPT with dropout and attention
/// written out, t = 8.
struct Published {
  double heads, hidden, layers, sequence, micro_batch;
};
constexpr Published models[] = {{64, 6144, 48, 2048, 4},    // 22B
                                {96, 12288, 96, 2048, 1},   // 175B
                                {128, 20480, 105, 2048, 1}, // 530B
                                {160, 25600, 128, 2048, 1}};

Scenario korthikanti(const Published& size, int tensor, bool sequence_parallel) {
  const auto count = [](double value) { return std::to_string(static_cast<long>(value)); };
  return loaded(
      "schema = 1\n[cluster]\nnode = \"dgx-a100-80\"\n[model]\nlayers = " + count(size.layers) +
      "\nhidden = " + count(size.hidden) + "\nheads = " + count(size.heads) +
      "\nvocabulary = 51200\nmax_positions = 2048\nposition = \"learned\"\n"
      "attention_bias = true\nprojection_bias = true\nmlp_bias = true\n"
      "tied_embeddings = true\n[training]\nsequence = " +
      count(size.sequence) +
      "\nglobal_batch = 32\nprecision = \"fp16\"\ndropout = true\n"
      "stack = \"megatron-lm-2022\"\n[plan]\ntensor = " +
      std::to_string(tensor) + "\nmicro_batch = " + count(size.micro_batch) +
      (sequence_parallel ? "\nsequence_parallel = true\n" : "\n"));
}

} // namespace

TEST_CASE("Korthikanti et al. 2022: activations of a layer, equations 1 to 6") {
  for (const Published& size : models) {
    const double sbh = size.sequence * size.micro_batch * size.hidden;
    const double scores = 5.0 * size.heads * size.sequence / size.hidden;
    const auto kept = [&](int tensor, bool sequence_parallel, Recompute recompute) {
      const Scenario scenario = korthikanti(size, tensor, sequence_parallel);
      REQUIRE_FALSE(attention_is_fused(scenario));
      return kept_per_layer(scenario, shard_of(scenario), LayerKind::dense, recompute).si();
    };
    CHECK(kept(1, false, Recompute::none) == close_to(sbh * (34.0 + scores)));
    CHECK(kept(8, false, Recompute::none) == close_to(sbh * (10.0 + 24.0 / 8 + scores / 8)));
    CHECK(kept(8, true, Recompute::none) == close_to(sbh * (34.0 + scores) / 8));
    CHECK(kept(8, true, Recompute::selective) == close_to(sbh * 34.0 / 8));
    CHECK(kept(8, false, Recompute::full) == close_to(2.0 * sbh));
  }
}

TEST_CASE("ZeRO paper (arXiv 1910.02054), figure 1: states of the four stages on 64 ranks") {
  // K = 12 bytes of states: 16 ψ, 4 ψ + 12 ψ/N, 2 ψ + 14 ψ/N, 16 ψ/N.
  const double ranks = 64;
  for (const int stage : {0, 1, 2, 3}) {
    Scenario scenario = test::shipped_scenario(
        "dgx_h100", {"plan.tensor=1", "plan.sequence_parallel=false", "plan.data=128",
                     "cluster.nodes=16", "plan.zero=" + std::to_string(stage)});
    scenario.cluster.partitions.front().nodes = 8;
    scenario.plan.data = static_cast<int>(ranks);
    const auto psi = static_cast<double>(count_parameters(scenario.model).total);
    const MemoryFootprint memory = memory_footprint(scenario);
    const double states =
        (term(memory, "weights") + term(memory, "gradients") + term(memory, "optimizer states"))
            .si();
    const double expected[] = {16.0 * psi, 4.0 * psi + 12.0 * psi / ranks,
                               2.0 * psi + 14.0 * psi / ranks, 16.0 * psi / ranks};
    CHECK(states == close_to(expected[stage], 0.01));
  }
}

TEST_CASE("Llama 2 7B does not fit one 80 GB chip with AdamW, and fits eight with ZeRO-2 or 3") {
  const auto seven_billion = [](int zero, const std::string& more) {
    return memory_footprint(
        loaded("schema = 1\n[cluster]\nnode = \"dgx-a100-80\"\n[model]\nuse = \"llama-2-7b\"\n"
               "[training]\nsequence = 4096\nglobal_batch = 8\nstack = \"megatron-core-2024\"\n"
               "[plan]\nrecompute = \"full\"\nzero = " +
               std::to_string(zero) + "\n" + more));
  };
  // 18 bytes (FP32 gradients) of 6.738 billion parameters are 121 GB.
  CHECK_FALSE(seven_billion(0, "").fits());
  CHECK(seven_billion(2, "").fits());
  CHECK(seven_billion(3, "").fits());
}

TEST_CASE("QLoRA (arXiv 2305.14314): 65 billion parameters on one card of 48 GB") {
  const MemoryFootprint memory = memory_footprint(test::shipped_scenario("qlora_llama_65b"));
  CHECK(memory.capacity < Bytes{52e9});
  CHECK(memory.fits());
  // 0.127 bits of scales per parameter with double quantisation, 0.5 without.
  const auto weights = [](const char* twice) {
    return term(memory_footprint(test::shipped_scenario(
                    "qlora_llama_65b", {std::string("finetune.double_quantisation=") + twice})),
                "weights")
        .si();
  };
  const double matrices = 80.0 * (4.0 * 8192 * 8192 + 3.0 * 8192 * 22016);
  const double saved = (0.5 - (8.0 / 64 + 32.0 / (64 * 256))) / 8.0;
  CHECK(weights("false") - weights("true") == close_to(saved * matrices));
  // The same adapters beside 16-bit weights do not fit.
  Scenario sixteen_bits = test::shipped_scenario("qlora_llama_65b");
  sixteen_bits.training.tuning.base.reset();
  CHECK_FALSE(memory_footprint(sixteen_bits).fits());
}
