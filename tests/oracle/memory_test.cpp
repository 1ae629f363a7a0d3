// Memory of model states by hand, as in docs/explanation/memory.md.

#include "plan/memory.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Bytes term(const MemoryFootprint& memory, std::string_view name) {
  for (const MemoryTerm& candidate : memory.terms) {
    if (candidate.name == name) {
      return candidate.bytes;
    }
  }
  FAIL("no term " << name);
  return Bytes{0};
}

} // namespace

TEST_CASE("ZeRO paper, section 3.1: mixed-precision Adam keeps 16 bytes per parameter") {
  // 2 (16-bit weights) + 2 (16-bit gradients) + 4 + 4 + 4 (FP32 master, momentum, variance).
  const Scenario scenario = test::shipped_scenario(
      "single_gpu_gpt2", {"training.gradient_dtype=\"bf16\"", "stack=megatron-core-2024"});
  const MemoryFootprint memory = memory_footprint(scenario);
  const auto parameters = static_cast<double>(count_parameters(scenario.model).total);
  const Bytes states =
      term(memory, "weights") + term(memory, "gradients") + term(memory, "optimizer states");
  CHECK(states.si() == close_to(16.0 * parameters, 0.01)); // vocabulary padding
}

TEST_CASE("ZeRO-1 shards only the optimizer states over data parallelism") {
  const Scenario plain = test::shipped_scenario("dgx_h100", {"plan.zero=0"});
  const Scenario sharded = test::shipped_scenario("dgx_h100", {"plan.zero=1"});
  const MemoryFootprint without = memory_footprint(plain);
  const MemoryFootprint with = memory_footprint(sharded);
  CHECK(term(with, "weights") == term(without, "weights"));
  CHECK(term(with, "gradients") == term(without, "gradients"));
  CHECK(term(with, "optimizer states").si() ==
        close_to(term(without, "optimizer states").si() / 16));
}

TEST_CASE("the main job fits with a comfortable margin") {
  const MemoryFootprint memory = memory_footprint(test::shipped_scenario("dgx_h100"));
  CHECK(memory.fits());
  CHECK(memory.margin() > 0.05 * memory.usable);
}

TEST_CASE("the terms are the peak") {
  for (const char* name : {"dgx_h100", "does_not_fit", "bert_large"}) {
    const MemoryFootprint memory = memory_footprint(test::shipped_scenario(name));
    Bytes sum;
    for (const MemoryTerm& each : memory.terms) {
      CHECK(each.bytes >= Bytes{0});
      sum += each.bytes;
    }
    CHECK(sum == memory.peak);
  }
}
