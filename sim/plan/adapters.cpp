// Low-rank adapters beside frozen products (Hu et al. 2021, arXiv 2106.09685, section 4.1):
// y += s · B·(A·x), backward dh = g·B, dx += dh·A, dA = dhᵀ·x, dB = gᵀ·h. They run in the
// activation type.

#include "plan/block_builder.hpp"

#include <algorithm>

namespace clustersim {

namespace {

/// A factor of `in` × `out` on all ranks together: its share of one rank.
Flops share(const Shard& shard, const Linear& linear, std::int64_t in, std::int64_t out) {
  return Flops{2.0 * static_cast<double>(linear.tokens) * elements(in, out) /
               static_cast<double>(shard.tensor)};
}

} // namespace

/// A recipe without kernels for it scales and adds in the epilogue of the second product.
bool BlockBuilder::adds_in_gemm() const {
  return std::ranges::none_of(scenario_->training.stack.recipe.kernels,
                              [](const FusedKernel& fused) { return fused.site == Site::adapter; });
}

void BlockBuilder::for_adapters(
    const Linear& linear,
    const std::function<void(const Linear::Part&, const std::string&)>& visit) {
  if (use_ != WeightUse::adapted) return;
  for (const Linear::Part& part : linear.parts) {
    if (scenario_->training.tuning.adapts(part.place)) {
      visit(part, "adapter of " + linear.name);
    }
  }
}

void BlockBuilder::adapters_forward(const Linear& linear) {
  const std::int64_t rank = scenario_->training.tuning.rank;
  for_adapters(linear, [&](const Linear::Part& part, const std::string& name) {
    gemm(name + ", first factor",
         {.m = linear.tokens,
          .n = rank,
          .k = linear.in,
          .precision = shard_->activation,
          .output = shard_->activation},
         share(*shard_, linear, linear.in * linear.in_parts, rank));
    gemm(name + ", second factor",
         {.m = linear.tokens,
          .n = part.width,
          .k = rank,
          .precision = shard_->activation,
          .output = shard_->activation,
          .accumulate = adds_in_gemm()},
         share(*shard_, linear, rank, part.width * linear.out_parts));
    kernels(Site::adapter, elements(linear.tokens, part.width));
  });
}

void BlockBuilder::adapters_data(const Linear& linear) {
  const std::int64_t rank = scenario_->training.tuning.rank;
  for_adapters(linear, [&](const Linear::Part& part, const std::string& name) {
    gemm(name + ", second factor, data gradient",
         {.m = linear.tokens,
          .n = rank,
          .k = part.width,
          .precision = shard_->activation,
          .output = shard_->activation,
          .role = GemmRole::data_gradient},
         share(*shard_, linear, rank, part.width * linear.out_parts));
    gemm(name + ", first factor, data gradient",
         {.m = linear.tokens,
          .n = linear.in,
          .k = rank,
          .precision = shard_->activation,
          .output = shard_->activation,
          .role = GemmRole::data_gradient,
          .accumulate = adds_in_gemm()},
         share(*shard_, linear, linear.in * linear.in_parts, rank));
    kernels(Site::adapter, elements(linear.tokens, linear.in));
  });
}

void BlockBuilder::adapters_weight(const Linear& linear) {
  const std::int64_t rank = scenario_->training.tuning.rank;
  for_adapters(linear, [&](const Linear::Part& part, const std::string& name) {
    const auto product = [&](const char* factor, std::int64_t out, std::int64_t in, Flops flops) {
      trained_product(name + factor,
                      {.m = out,
                       .n = in,
                       .k = linear.tokens,
                       .precision = shard_->activation,
                       .role = GemmRole::weight_gradient},
                      flops);
    };
    product(", first factor, weight gradient", rank, linear.in,
            share(*shard_, linear, linear.in * linear.in_parts, rank));
    product(", second factor, weight gradient", part.width, rank,
            share(*shard_, linear, rank, part.width * linear.out_parts));
  });
}

} // namespace clustersim
