// A mixture of experts: rows, FLOPs, messages and parameters.

#include "plan/experts.hpp"
#include "plan/stage.hpp"

#include "examples.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

constexpr std::int64_t experts = 8, top_k = 2;

Scenario mixture(int expert, int tensor, int expert_tensor) {
  Transformer model = test::small_gpt(6, 8);
  model.moe.experts = experts;
  model.moe.top_k = top_k;
  model.moe.ffn_hidden = 256;
  model.moe.shared_ffn_hidden = 128;
  model.moe.dense_first = 2;
  Scenario scenario = test::example(model, 512);
  test::spread(scenario, tensor, 8, 2);
  scenario.plan.sequence_parallel = tensor > 1;
  scenario.plan.expert = expert;
  scenario.plan.expert_tensor = expert_tensor;
  return scenario;
}

} // namespace

TEST_CASE("every copy of a token is worked on once") {
  for (const int expert : {1, 2, 4, 8}) {
    const Scenario scenario = mixture(expert, 1, 1);
    const ExpertShard shard = expert_shard(scenario, shard_of(scenario));
    CHECK(shard.sent == 512 * top_k);
    CHECK(shard.received == shard.sent);
    CHECK(shard.experts * expert == experts);
    CHECK(shard.rows == 512 * top_k * expert / experts);
  }
}

TEST_CASE("the busiest rank works on more, or on what its capacity holds") {
  Scenario scenario = mixture(4, 1, 1);
  scenario.training.expert_imbalance = 1.5;
  CHECK(expert_shard(scenario, shard_of(scenario)).received == 512 * top_k * 3 / 2);
  scenario.model.moe.capacity_factor = 1.25;
  CHECK(expert_shard(scenario, shard_of(scenario)).received == 512 * top_k * 5 / 4);
}

TEST_CASE("model FLOPs of all ranks are the model's, whatever the axes") {
  for (const auto& [expert, tensor, expert_tensor] :
       {std::array{1, 1, 1}, {8, 1, 1}, {4, 2, 1}, {4, 2, 2}, {1, 4, 4}}) {
    const Scenario scenario = mixture(expert, tensor, expert_tensor);
    const double of_rank =
        test::sum_over_step(lower(scenario), [](const Op& op) { return op.model_flops.si(); });
    CHECK(of_rank * scenario.plan.data * tensor == close_to(model_flops(scenario).si()));
  }
}

TEST_CASE("products of experts are grouped when a rank holds several, and cost the law's starts") {
  for (const int expert : {1, 4, 8}) {
    Scenario scenario = mixture(expert, 1, 1);
    const auto grouped_products = [&] {
      return test::sum_over_step(lower(scenario), [](const Op& op) {
        const auto* gemm = std::get_if<GemmShape>(&op.work);
        return gemm != nullptr && gemm->grouped ? static_cast<double>(gemm->batch) : 0.0;
      });
    };
    const double layers = static_cast<double>(expert_layers(scenario.model));
    // Up and down, forward and both gradients, of two micro-batches.
    const double held = static_cast<double>(experts / expert);
    CHECK(grouped_products() == close_to(expert == 8 ? 0.0 : 2.0 * layers * 6.0 * held));
  }
}

TEST_CASE("all-to-alls carry top_k copies of each token, twice forward and twice backward") {
  const Scenario scenario = mixture(8, 1, 1);
  const double layers = static_cast<double>(expert_layers(scenario.model));
  const double copy = static_cast<double>(scenario.model.hidden) * 2.0;
  const double sent = test::sum_over_step(
      lower(scenario), [](const Op& op) { return test::payload(op, Axis::expert); });
  CHECK(sent == close_to(2.0 * layers * 4.0 * 512.0 * top_k * copy));
}

TEST_CASE(
    "a deduplicating dispatch sends a token once to each rank that holds one of its experts") {
  const auto sent_per_token = [](Scenario scenario) {
    const double layers = static_cast<double>(expert_layers(scenario.model));
    const double row = static_cast<double>(scenario.model.hidden) * 2.0;
    scenario.training.stack.experts.deduplicates = true;
    return test::sum_over_step(lower(scenario),
                               [](const Op& op) { return test::payload(op, Axis::expert); }) /
           (2.0 * layers * 4.0 * 512.0 * row);
  };
  // One expert a rank: nothing to save.
  CHECK(sent_per_token(mixture(8, 1, 1)) == close_to(static_cast<double>(top_k)));
  // Two a rank: a rank holds neither of two choices with probability 6/8 · 5/7.
  const double to_ranks = 4.0 * (1.0 - 6.0 / 8.0 * 5.0 / 7.0);
  CHECK(sent_per_token(mixture(4, 1, 1)) == close_to(to_ranks));
  // Two nodes of two ranks: across once a node, then inside once a rank.
  Scenario two_nodes = mixture(4, 1, 1);
  two_nodes.cluster.partitions.front().node.chips = 2;
  const double to_nodes = 2.0 * (1.0 - 4.0 / 8.0 * 3.0 / 7.0);
  CHECK(sent_per_token(two_nodes) == close_to(to_nodes + to_ranks));
}

TEST_CASE("experts are dealt out, everything else is held by every rank") {
  const ParameterCount count = count_parameters(mixture(1, 1, 1).model);
  for (const int expert : {1, 2, 8}) {
    const LocalParameters local = local_parameters(mixture(expert, 1, 1));
    const double routed = static_cast<double>(experts * count.expert);
    CHECK(local.of(LayerKind::experts).experts == close_to(routed / expert));
    CHECK(local.of(LayerKind::experts).dense ==
          close_to(static_cast<double>(count.moe_layer) - routed));
  }
}
