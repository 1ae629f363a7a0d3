#include "plan/context_exchange.hpp"
#include "plan/layer.hpp"

namespace clustersim {

namespace {

/// One of the two products of the core, 2·b·heads·s²·d over the whole model, one rank's share; the
/// masked half of a causal model is no model FLOP even where a kernel computes it.
Flops product_flops(const Scenario& scenario, const Shard& shard) {
  const double square = elements(shard.queries, shard.sequence);
  // Scores take the width of a head, values their own: half of both is a product on average.
  const LatentAttention& mla = scenario.model.mla;
  const double value_dim =
      static_cast<double>(mla.kv_rank > 0 ? mla.value_dim : scenario.model.head_dim);
  const double width = static_cast<double>(scenario.model.heads) *
                       (static_cast<double>(scenario.model.head_dim) + value_dim) / 2.0;
  const double full = 2.0 * static_cast<double>(shard.batch) * square * width;
  return Flops{full * (scenario.model.causal ? 0.5 : 1.0) / static_cast<double>(shard.tensor)};
}

/// Products outside the weights stay out of 8 and 4 bits, but run on TF32 units where the linears
/// do.
Precision attention_operands(const Shard& shard) {
  return is_quantised(shard.matmul) ? shard.activation : shard.matmul;
}

/// A batched product of s rows per head.
GemmShape product_per_head(const Shard& shard, std::int64_t n, std::int64_t k, GemmRole role) {
  return {.m = shard.queries,
          .n = n,
          .k = k,
          .batch = shard.batch * shard.heads,
          .precision = attention_operands(shard),
          .output = shard.activation,
          .role = role};
}

/// Its output is s × s.
GemmShape onto_scores(const Shard& shard, GemmRole role) {
  return product_per_head(shard, shard.sequence, shard.head_dim, role);
}

/// Its output is s × d.
GemmShape from_scores(const Shard& shard, GemmRole role) {
  return product_per_head(shard, shard.core_width / shard.heads, shard.sequence, role);
}

} // namespace

void append_attention_core(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const Flops product = product_flops(scenario, shard);
  const bool shared = shard.context > 1;
  if (shared && attention_is_fused(scenario)) {
    append_shared_attention(builder, scenario, shard, 2.0 * product, false);
    return;
  }
  if (attention_is_fused(scenario)) {
    builder.attention("attention", fused_attention(scenario, shard, shard.sequence, false),
                      2.0 * product);
    return;
  }
  if (shared) append_exchange_before(builder, scenario, shard, false);
  builder.gemm("attention scores", onto_scores(shard, GemmRole::forward), product);
  builder.kernels(Site::score, score_elements(shard));
  builder.gemm("attention over values", from_scores(shard, GemmRole::forward), product);
  if (shared) append_exchange_after(builder, scenario, shard, false);
}

void append_attention_core_backward(BlockBuilder& builder, const Scenario& scenario,
                                    const Shard& shard) {
  const Flops product = product_flops(scenario, shard);
  const bool shared = shard.context > 1;
  if (shared && attention_is_fused(scenario)) {
    append_shared_attention(builder, scenario, shard, 2.0 * product, true);
    return;
  }
  if (attention_is_fused(scenario)) {
    // MFU counts twice the forward products; the kernel also computes the scores again.
    builder.attention("attention, backward", fused_attention(scenario, shard, shard.sequence, true),
                      4.0 * product);
    return;
  }
  if (shared) append_exchange_before(builder, scenario, shard, true);
  const GemmRole role = GemmRole::data_gradient;
  builder.gemm("attention probabilities, gradient", onto_scores(shard, role), product);
  builder.gemm("attention values, gradient", from_scores(shard, role), product);
  builder.kernels(Site::score, score_elements(shard));
  builder.gemm("attention queries, gradient", from_scores(shard, role), product);
  builder.gemm("attention keys, gradient", from_scores(shard, role), product);
  if (shared) append_exchange_after(builder, scenario, shard, true);
}

} // namespace clustersim
