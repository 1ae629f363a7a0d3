// Bytes of memory-bound kernels at their sites.

#include "examples.hpp"

#include "plan/shard.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

/// A recipe of one kernel, so that its traffic can be told apart.
Scenario with_kernel(Site site, KernelCondition when = KernelCondition::always) {
  Scenario scenario = test::example(test::llama3_70b(), 1024, "unfused");
  FusedKernel kernel;
  kernel.name = "probe";
  kernel.site = site;
  kernel.forward = 2;
  kernel.backward = 5;
  kernel.extra_bytes = 1;
  kernel.when = when;
  scenario.training.stack.recipe.kernels = {kernel};
  return scenario;
}

double traffic(const Scenario& scenario, const char* block, const char* name) {
  double bytes = 0.0;
  for (const Op& op : test::block_named(lower(scenario), block).ops) {
    if (op.name == name) bytes += std::get<MemoryKernel>(op.work).traffic.si();
  }
  return bytes;
}

constexpr double tokens = 1024, h = 8192, q = 8192, kv = 1024, f = 28672, heads = 64;
constexpr double forward_bytes = 2 * 2 + 1, backward_bytes = 5 * 2 + 1;

} // namespace

TEST_CASE("each site counts its own tensor") {
  const std::pair<Site, double> sites[] = {
      {Site::norm, 2 * tokens * h},           {Site::residual, 2 * tokens * h},
      {Site::qkv, tokens * (q + 2 * kv)},     {Site::rope, tokens * (q + kv)},
      {Site::score, heads * tokens * tokens}, {Site::context, tokens * q},
      {Site::activation, tokens * f}};
  for (const auto& each : sites) {
    const Site site = each.first;
    const double elements = each.second;
    CAPTURE(name_of(site));
    CHECK(traffic(with_kernel(site), "layer forward", "probe") ==
          close_to(forward_bytes * elements));
    CHECK(traffic(with_kernel(site), "layer backward", "probe, backward") ==
          close_to(backward_bytes * elements));
  }
}

TEST_CASE("tensor parallelism splits heads and MLP, sequence parallelism also the norms") {
  for (const bool sp : {false, true}) {
    const auto at = [sp](Site site) {
      Scenario scenario = with_kernel(site);
      scenario.plan.sequence_parallel = sp;
      test::spread(scenario, 8, 1, 1);
      return traffic(scenario, "layer forward", "probe");
    };
    CHECK(at(Site::norm) == close_to(forward_bytes * 2 * tokens * h / (sp ? 8 : 1)));
    CHECK(at(Site::activation) == close_to(forward_bytes * tokens * f / 8));
    CHECK(at(Site::score) == close_to(forward_bytes * heads / 8 * tokens * tokens));
  }
}

TEST_CASE("conditions choose the kernel") {
  using enum KernelCondition;
  const auto runs_with = [](KernelCondition when, bool gated, bool dropped) {
    Scenario scenario = with_kernel(Site::norm, when);
    scenario.model.gated_mlp = gated;
    scenario.training.dropout = dropped;
    return traffic(scenario, "layer forward", "probe") > 0.0;
  };
  for (const bool gated : {false, true}) {
    for (const bool dropped : {false, true}) {
      CHECK(runs_with(always, gated, dropped));
      CHECK(runs_with(KernelCondition::gated, gated, dropped) == gated);
      CHECK(runs_with(ungated, gated, dropped) == !gated);
      CHECK(runs_with(dropout, gated, dropped) == dropped);
      CHECK(runs_with(no_dropout, gated, dropped) == !dropped);
    }
  }
}

TEST_CASE("the loss works on the rank's part of the vocabulary") {
  Scenario scenario = with_kernel(Site::loss);
  test::spread(scenario, 8, 1, 1);
  CHECK(traffic(scenario, "head forward", "probe") ==
        close_to(forward_bytes * tokens * 128256 / 8));
}

TEST_CASE("the update touches a rank's part under ZeRO-1, the gradient norm all of it") {
  Scenario scenario = test::example(test::llama3_70b(), 1024);
  scenario.plan.zero = 1;
  test::spread(scenario, 8, 4, 2);
  const double parameters = local_parameters(scenario).total;
  CHECK(traffic(scenario, "optimizer", "optimizer update") == close_to(30 * parameters / 4));
  CHECK(traffic(scenario, "optimizer", "gradient norm and clipping") == close_to(4 * parameters));
  CHECK(traffic(scenario, "optimizer", "zero gradients") == close_to(4 * parameters));
}

TEST_CASE("the embedding's gradient is a dense table, zeroed and added to the main gradient") {
  Scenario scenario = test::example(test::llama3_70b(), 1024);
  const double table = 128256.0 * 8192;
  CHECK(traffic(scenario, "embedding backward", "embedding table gradient") ==
        close_to(table * (2 + 2 + 2 * 4)));
}

TEST_CASE("unfused products of heads that are no multiple of 16 bytes miss the matrix units") {
  const auto precision = [](std::int64_t head_dim, ChipKind kind) {
    Scenario scenario = test::example(test::llama3_70b(), 1024, "unfused");
    scenario.model.head_dim = head_dim;
    Chip& chip = scenario.cluster.partitions.front().node.chip;
    chip.kind = kind;
    chip.vector[Precision::fp32] = FlopsPerSecond{20e12};
    const Block block = test::block_named(lower(scenario), "layer forward");
    for (const Op& op : block.ops) {
      if (op.name == "attention scores") return std::get<GemmShape>(op.work).precision;
    }
    return Precision::int4;
  };
  CHECK(precision(104, ChipKind::gpu) == Precision::bf16); // 208 = 13 · 16 bytes
  CHECK(precision(108, ChipKind::gpu) == Precision::fp32); // 216 bytes
  CHECK(precision(150, ChipKind::gpu) == Precision::fp32);
  CHECK(precision(108, ChipKind::tpu) == Precision::bf16); // pads in its own array
}
