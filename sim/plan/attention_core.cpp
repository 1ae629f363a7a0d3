#include "plan/context_exchange.hpp"
#include "plan/layer.hpp"

#include <algorithm>

namespace clustersim {

namespace {

/// Share of queries × keys that is not masked when the queries are the last of the keys, as in a
/// prompt worked on in chunks: all pairs of K tokens without those of the P = K − Q before.
double seen_by_last(const Shard& shard, double keys) {
  const double queries = static_cast<double>(shard.queries), before = keys - queries;
  const auto pairs = [&](double tokens) {
    return tokens > 0.0 ? tokens * tokens * seen_share(tokens, shard.window, shard.causal) : 0.0;
  };
  return (pairs(keys) - pairs(before)) / (queries * keys);
}

/// One of the two products of the core, 2·b·heads·s²·d over the whole model, one rank's share; what
/// a causal mask or a window hides is no model FLOP even where a kernel computes it.
Flops product_flops(const Scenario& scenario, const Shard& shard, std::int64_t keys) {
  const double square = elements(shard.queries, keys);
  // Scores take the width of a head, values their own: half of both is a product on average.
  const LatentAttention& mla = scenario.model.mla;
  const double value_dim =
      static_cast<double>(mla.kv_rank > 0 ? mla.value_dim : scenario.model.head_dim);
  const double width = static_cast<double>(scenario.model.heads) *
                       (static_cast<double>(scenario.model.head_dim) + value_dim) / 2.0;
  const double full = 2.0 * static_cast<double>(shard.batch) * square * width;
  // Of packed documents each query sees the keys of its own.
  const double own = static_cast<double>(std::min(keys, shard.document));
  const double seen =
      shard.serves ? seen_by_last(shard, static_cast<double>(keys))
                   : seen_share(own, shard.window, shard.causal) * own / static_cast<double>(keys);
  return Flops{full * seen / static_cast<double>(shard.tensor)};
}

/// Matrix units read 16 bytes at a time. Rows of a head begin at multiples of its dimension: where
/// that is no multiple of 16 bytes, libraries run the batched product on the vector units.
bool misses_matrix_units(const Chip& chip, const Shard& shard) {
  const auto row =
      static_cast<std::int64_t>(static_cast<double>(shard.head_dim) * shard.element.si());
  return chip.kind == ChipKind::gpu && row % 16 != 0 && chip.vector[Precision::fp32].has_value();
}

/// Products outside the weights stay out of 8 and 4 bits, but run on TF32 units where the linears
/// do.
Precision attention_operands(const Chip& chip, const Shard& shard) {
  if (misses_matrix_units(chip, shard)) return Precision::fp32;
  return is_quantised(shard.matmul) ? shard.activation : shard.matmul;
}

/// A batched product of s rows per head.
GemmShape product_per_head(const Chip& chip, const Shard& shard, std::int64_t n, std::int64_t k,
                           GemmRole role) {
  return {.m = shard.queries,
          .n = n,
          .k = k,
          .batch = shard.batch * shard.heads,
          .precision = attention_operands(chip, shard),
          .output = shard.activation,
          .role = role};
}

/// Its output is s × keys.
GemmShape onto_scores(const Chip& chip, const Shard& shard, std::int64_t keys, GemmRole role) {
  return product_per_head(chip, shard, keys, shard.head_dim, role);
}

/// Its output is s × d.
GemmShape from_scores(const Chip& chip, const Shard& shard, std::int64_t keys, GemmRole role) {
  return product_per_head(chip, shard, shard.core_width / shard.heads, keys, role);
}

/// Relative positions (T5) add one bias per head and pair to the scores of every sequence, or sum
/// their gradients over the sequences. The pairs of a decoder and its encoder have none.
void append_position_bias(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                          std::int64_t keys, bool backward) {
  if (scenario.model.position != PositionKind::relative) return;
  const double table = elements(shard.heads, 1) * elements(shard.queries, keys);
  const double moved = (backward ? 1.0 : 2.0) * score_elements(shard, keys) + table;
  builder.kernel(backward ? "position biases, gradient" : "position biases",
                 {.kernel_class = KernelClass::elementwise,
                  .traffic = moved * shard.element,
                  .vector_flops = Flops{0},
                  .kernels = 1});
}

/// `across`: from a decoder to its encoder, whose pairs have no biases.
void append_unfused(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                    std::int64_t keys, Flops product, bool across) {
  const Chip& chip = scenario.chip();
  builder.gemm("attention scores", onto_scores(chip, shard, keys, GemmRole::forward), product);
  if (!across) append_position_bias(builder, scenario, shard, keys, false);
  builder.kernels(Site::score, score_elements(shard, keys));
  builder.gemm("attention over values", from_scores(chip, shard, keys, GemmRole::forward), product);
}

void append_unfused_backward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                             std::int64_t keys, Flops product, bool across) {
  const GemmRole role = GemmRole::data_gradient;
  const Chip& chip = scenario.chip();
  builder.gemm("attention probabilities, gradient", onto_scores(chip, shard, keys, role), product);
  builder.gemm("attention values, gradient", from_scores(chip, shard, keys, role), product);
  builder.kernels(Site::score, score_elements(shard, keys));
  if (!across) append_position_bias(builder, scenario, shard, keys, true);
  builder.gemm("attention queries, gradient", from_scores(chip, shard, keys, role), product);
  builder.gemm("attention keys, gradient", from_scores(chip, shard, keys, role), product);
}

/// A kernel for sequences of unlike lengths takes documents as so many sequences. Unfused products
/// compute what their mask then hides.
AttentionShape packed_attention(const Scenario& scenario, const Shard& shard, bool backward) {
  AttentionShape shape = fused_attention(scenario, shard, shard.document, backward);
  shape.batch *= shard.sequence / shard.document;
  return shape;
}

AttentionShape cross_shape(const Scenario& scenario, const Shard& shard, bool backward) {
  AttentionShape shape = fused_attention(scenario, shard, shard.queries, backward);
  shape.keys = shard.source;
  shape.causal = false;
  return shape;
}

} // namespace

void append_cross_attention(BlockBuilder& builder, const Scenario& scenario, Shard shard) {
  shard.causal = false;
  shard.document = shard.source;
  const Flops product = product_flops(scenario, shard, shard.source);
  if (attention_is_fused(scenario)) {
    return builder.attention("attention to encoder", cross_shape(scenario, shard, false),
                             2.0 * product);
  }
  append_unfused(builder, scenario, shard, shard.source, product, true);
}

void append_cross_attention_backward(BlockBuilder& builder, const Scenario& scenario, Shard shard) {
  shard.causal = false;
  shard.document = shard.source;
  const Flops product = product_flops(scenario, shard, shard.source);
  if (attention_is_fused(scenario)) {
    return builder.attention("attention to encoder, backward", cross_shape(scenario, shard, true),
                             4.0 * product);
  }
  append_unfused_backward(builder, scenario, shard, shard.source, product, true);
}

void append_attention_core(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const Flops product = product_flops(scenario, shard, shard.sequence);
  const bool shared = shard.context > 1;
  if (shared && attention_is_fused(scenario)) {
    append_shared_attention(builder, scenario, shard, 2.0 * product, false);
    return;
  }
  if (attention_is_fused(scenario)) {
    AttentionShape shape = packed_attention(scenario, shard, false);
    if (shard.serves) shape.queries = shard.queries; // fewer than keys in a later chunk of a prompt
    builder.attention("attention", shape, 2.0 * product);
    return;
  }
  if (shared) append_exchange_before(builder, scenario, shard, false);
  append_unfused(builder, scenario, shard, shard.sequence, product, false);
  if (shared) append_exchange_after(builder, scenario, shard, false);
}

void append_attention_core_backward(BlockBuilder& builder, const Scenario& scenario,
                                    const Shard& shard) {
  const Flops product = product_flops(scenario, shard, shard.sequence);
  const bool shared = shard.context > 1;
  if (shared && attention_is_fused(scenario)) {
    append_shared_attention(builder, scenario, shard, 2.0 * product, true);
    return;
  }
  if (attention_is_fused(scenario)) {
    // MFU counts twice the forward products; the kernel also computes the scores again.
    builder.attention("attention, backward", packed_attention(scenario, shard, true),
                      4.0 * product);
    return;
  }
  if (shared) append_exchange_before(builder, scenario, shard, true);
  append_unfused_backward(builder, scenario, shard, shard.sequence, product, false);
  if (shared) append_exchange_after(builder, scenario, shard, true);
}

} // namespace clustersim
