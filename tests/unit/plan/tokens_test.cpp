// Packed documents, and a loss taken in pieces.

#include "examples.hpp"

#include "plan/memory.hpp"
#include "plan/shard.hpp"
#include "spec/validate_plan.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

/// Σ queries · keys of the forward attention, all heads and sequences.
double pairs(const Scenario& scenario) {
  return test::sum_over_step(lower(scenario), [](const Op& op) {
    const auto* shape = std::get_if<AttentionShape>(&op.work);
    if (shape == nullptr || shape->backward) return 0.0;
    return static_cast<double>(shape->batch * shape->heads) * static_cast<double>(shape->queries) *
           static_cast<double>(shape->keys);
  });
}

} // namespace

TEST_CASE("packed documents: queries see their own, in as many pairs as documents are shorter") {
  Scenario scenario = test::example(test::small_gpt(3, 4), 4096);
  test::spread(scenario, 2, 2, 3);
  const double whole = pairs(scenario), flops = test::program_model_flops(scenario);
  for (const std::int64_t document : {256, 1024, 4096}) {
    scenario.training.document = document;
    REQUIRE(plan_faults(scenario).empty());
    CHECK(pairs(scenario) == close_to(whole * static_cast<double>(document) / 4096));
    CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
    CHECK(test::program_model_flops(scenario) <= flops);
  }
  scenario.training.document = 1000;
  REQUIRE(plan_faults(scenario).size() == 1);
  CHECK(plan_faults(scenario)[0].expected == "document = 512 or 1024");
}

TEST_CASE("a window longer than a document hides nothing in it") {
  Scenario scenario = test::example(test::small_gpt(3, 4), 4096);
  scenario.training.document = 512;
  const Flops without = model_flops(scenario);
  scenario.model.window = 1024;
  CHECK(model_flops(scenario) == without);
}

TEST_CASE("a loss in pieces: the same products, a piece of the logits") {
  Scenario scenario = test::example(test::small_gpt(3, 4), 4096);
  scenario.plan.micro_batch = 2;
  scenario.model.vocabulary = 128000;
  test::spread(scenario, 1, 1, 2);
  const auto products = [&] { return test::sum_over_step(lower(scenario), test::gemm_flops); };
  const double whole = products();
  const Bytes peak = memory_footprint(scenario).peak;
  for (const std::int64_t pieces : {2, 3, 16}) {
    scenario.training.loss_chunks = pieces;
    REQUIRE(plan_faults(scenario).empty());
    CHECK(products() == close_to(whole));
    CHECK(test::program_model_flops(scenario) == close_to(model_flops(scenario).si(), 1e-12));
    CHECK(memory_footprint(scenario).peak < peak);
  }
  scenario.training.loss_chunks = 2 * 4096 + 1;
  CHECK(plan_faults(scenario).size() == 1);
}
