#include "plan/key_value_cache.hpp"

#include <algorithm>

namespace clustersim {

namespace {

/// A weight of each head as a product of its own: [tokens × in] · [in × out] per head.
GemmShape per_head(const Shard& shard, std::int64_t out, std::int64_t in) {
  return {.m = shard.tokens,
          .n = out,
          .k = in,
          .batch = shard.heads,
          .precision = shard.activation,
          .output = shard.activation};
}

Flops per_head_flops(const Scenario& scenario, const Shard& shard, double in, double out) {
  return Flops{2.0 * static_cast<double>(shard.tokens) * static_cast<double>(scenario.model.heads) *
               in * out / static_cast<double>(shard.tensor)};
}

} // namespace

std::int64_t cached_width(const Scenario& scenario, const Shard& shard) {
  const LatentAttention& mla = scenario.model.mla;
  return mla.kv_rank > 0 ? mla.kv_rank + mla.rope_dim : shard.key_width + shard.value_width;
}

Bytes cached_by_layer(const Scenario& scenario, const Shard& shard, LayerKind kind,
                      std::int64_t tokens) {
  const std::int64_t window = is_windowed(kind) ? scenario.model.window : tokens;
  return elements(std::min(tokens, window), cached_width(scenario, shard)) *
         bytes_per_element(scenario.inference.kv_cache);
}

void append_cache_write(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const Bytes read = shard.element, written = bytes_per_element(scenario.inference.kv_cache);
  builder.kernel(
      "key and value cache write",
      {.kernel_class = KernelClass::elementwise,
       .traffic = elements(shard.tokens, cached_width(scenario, shard)) * (read + written),
       .vector_flops = Flops{0},
       .kernels = 1});
}

void append_decode_attention(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const LatentAttention& mla = scenario.model.mla;
  const bool latent = mla.kv_rank > 0;
  AttentionShape shape{.batch = shard.batch,
                       .heads = shard.heads,
                       .kv_heads = latent ? 1 : shard.kv_heads,
                       .head_dim = latent ? mla.kv_rank + mla.rope_dim : shard.head_dim,
                       .queries = shard.queries,
                       .keys = shard.sequence,
                       .causal = false,
                       .precision = shard.activation,
                       .value_dim = latent ? mla.kv_rank : 0,
                       .window = shard.window,
                       .decode = true,
                       .shared_values = latent,
                       .cache = scenario.inference.kv_cache};
  const std::int64_t seen = shard.window > 0 ? std::min(shard.window, shape.keys) : shape.keys;
  const double value_dim =
      static_cast<double>(shape.value_dim > 0 ? shape.value_dim : shape.head_dim);
  const double pairs = elements(shard.tokens, seen) * static_cast<double>(scenario.model.heads) /
                       static_cast<double>(shard.tensor);
  const Flops products{2.0 * pairs * (static_cast<double>(shape.head_dim) + value_dim)};
  const auto rank = static_cast<double>(mla.kv_rank);
  if (latent) {
    builder.gemm("queries to latents", per_head(shard, mla.kv_rank, mla.nope_dim),
                 per_head_flops(scenario, shard, static_cast<double>(mla.nope_dim), rank));
  }
  builder.attention("attention over cache", shape, products);
  if (latent) {
    builder.gemm("latents to values", per_head(shard, mla.value_dim, mla.kv_rank),
                 per_head_flops(scenario, shard, rank, static_cast<double>(mla.value_dim)));
  }
}

} // namespace clustersim
