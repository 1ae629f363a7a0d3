// Sequences shared by several ranks: the work stays the same, and what is sent is K and V.

#include "plan/context_exchange.hpp"

#include "examples.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Scenario shared(int context, ContextExchange exchange) {
  Scenario scenario = test::example(test::small_gpt(4, 8), 1024);
  scenario.plan.context = context;
  scenario.plan.context_exchange = exchange;
  return scenario;
}

/// Query-key pairs that one rank's fused kernels compute, forward and backward alike.
double pairs(const StepProgram& program, bool backward) {
  return test::sum_over_step(program, [&](const Op& op) {
    const auto* shape = std::get_if<AttentionShape>(&op.work);
    if (shape == nullptr || shape->backward != backward) return 0.0;
    const double queries = static_cast<double>(shape->queries);
    const double keys = static_cast<double>(shape->keys);
    const double seen = shape->causal ? keys - queries / 2.0 : keys;
    return static_cast<double>(shape->batch * shape->heads) * queries * seen;
  });
}

} // namespace

TEST_CASE("attention's pairs divide evenly over context ranks") {
  const Scenario whole = test::example(test::small_gpt(4, 8), 1024);
  for (const ContextExchange exchange :
       {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::ulysses}) {
    for (const int context : {2, 4, 8}) {
      const StepProgram program = lower(shared(context, exchange));
      for (const bool backward : {false, true}) {
        CHECK(pairs(program, backward) == close_to(pairs(lower(whole), backward) / context));
      }
    }
  }
}

TEST_CASE("model FLOPs of all context ranks are the model's") {
  for (const ContextExchange exchange :
       {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::ulysses}) {
    const Scenario scenario = shared(4, exchange);
    const double of_rank =
        test::sum_over_step(lower(scenario), [](const Op& op) { return op.model_flops.si(); });
    CHECK(4.0 * of_rank == close_to(model_flops(scenario).si()));
  }
}

TEST_CASE("a ring sends c - 1 times its keys and values forward, c times with gradients backward") {
  for (const int context : {2, 4}) {
    const Scenario scenario = shared(context, ContextExchange::ring);
    const double layers = static_cast<double>(scenario.model.layers);
    const double own = 2.0 * (1024.0 / context) * static_cast<double>(scenario.model.hidden) * 2.0;
    const double sent = test::sum_over_step(
        lower(scenario), [](const Op& op) { return test::payload(op, Axis::context); });
    CHECK(sent == close_to(layers * own * ((context - 1.0) + 2.0 * context)));
  }
}
