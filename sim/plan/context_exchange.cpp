#include "plan/context_exchange.hpp"

#include <algorithm>

namespace clustersim {
namespace {

/// K and V of this rank's tokens.
Bytes own_keys(const Shard& shard) {
  return elements(shard.tokens, shard.key_width + shard.value_width) * shard.element;
}

void exchange(BlockBuilder& builder, const Scenario& scenario, const char* name,
              CollectiveKind kind, Bytes payload) {
  builder.collective(name, context_parallel(scenario, kind, payload), Lane::context, 0.0);
}

/// Keys that a query meets at each stop after its own, on average: what it sees of the sequence,
/// less what it saw of its own block. A window leaves most stops without work, yet keys travel the
/// ring.
std::int64_t keys_per_stop(const Shard& shard) {
  if (shard.window == 0) return shard.queries / 2;
  const double all = static_cast<double>(shard.sequence);
  const double own = static_cast<double>(shard.queries);
  const double left = seen_share(all, shard.window, shard.causal) * all -
                      seen_share(own, shard.window, shard.causal) * own;
  const double each = left / static_cast<double>(shard.context - 1);
  return std::max<std::int64_t>(static_cast<std::int64_t>(each), 1);
}

/// Liu et al. 2023 (Ring Attention, arXiv 2310.01889), with an early and a late piece of the
/// sequence on every rank so that causal work is even (Brandon et al. 2023, arXiv 2311.09431): the
/// own block is causal, and of every other stop's pairs one half is masked as a whole.
void append_ring(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                 Flops model_flops, bool backward) {
  const std::int64_t stops = shard.context;
  const char* name = backward ? "attention, backward" : "attention";
  const Flops each = model_flops / static_cast<double>(stops);
  // Backward the gradients of K and V travel with them.
  const Bytes payload = (backward ? 2.0 : 1.0) * own_keys(shard);
  AttentionShape block = fused_attention(scenario, shard, shard.queries, backward);
  for (std::int64_t stop = 0; stop < stops; ++stop) {
    const bool last = stop + 1 == stops;
    if (!last || backward) {
      builder.collective("ring exchange of keys and values",
                         context_parallel(scenario, CollectiveKind::send_recv, payload),
                         Lane::context, scenario.training.stack.overlap.context);
    }
    builder.attention(name, block, each);
    if (stop > 0 && !backward) {
      // Two partial outputs become one: both read, one written.
      builder.kernel("merge of partial attention",
                     {.kernel_class = KernelClass::elementwise,
                      .traffic = 3.0 * elements(shard.tokens, shard.core_width) * shard.element,
                      .vector_flops = Flops{0},
                      .kernels = 1});
    }
    if (!last || backward) builder.join(Lane::context);
    if (stop == 0 && (block.causal || block.window > 0)) {
      block.keys = keys_per_stop(shard);
      block.causal = false;
      block.window = 0;
    }
  }
}

/// Llama 3 (arXiv 2407.21783, §3.3.2): two pieces of s/2c queries, which see (2c + 1)/4c of the
/// keys on average.
AttentionShape gathered_shape(const Scenario& scenario, const Shard& shard, bool backward) {
  AttentionShape shape = fused_attention(scenario, shard, shard.queries, backward);
  shape.keys = shard.sequence;
  if (shape.causal) {
    shape.batch *= 2;
    shape.queries = shard.queries / 2;
    shape.keys = shape.queries * (2 * shard.context + 1) / 2;
  }
  return shape;
}

/// Jacobs et al. 2023 (DeepSpeed-Ulysses, arXiv 2309.14509).
AttentionShape dealt_shape(const Scenario& scenario, const Shard& shard, bool backward) {
  AttentionShape shape = fused_attention(scenario, shard, shard.queries, backward);
  shape.heads /= shard.context;
  shape.kv_heads /= shard.context;
  shape.queries = shape.keys = shard.sequence;
  return shape;
}

} // namespace

AttentionShape fused_attention(const Scenario& scenario, const Shard& shard, std::int64_t length,
                               bool backward) {
  return {.batch = shard.batch,
          .heads = shard.heads,
          .kv_heads = shard.kv_heads,
          .head_dim = shard.head_dim,
          .queries = length,
          .keys = length,
          .causal = shard.causal,
          .backward = backward,
          .precision = shard.activation,
          .value_dim = scenario.model.mla.kv_rank > 0 ? scenario.model.mla.value_dim : 0,
          .window = shard.window};
}

void append_exchange_before(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                            bool backward) {
  const double context = static_cast<double>(shard.context);
  if (scenario.plan.context_exchange == ContextExchange::ulysses) {
    const double width = static_cast<double>(backward ? shard.core_width : shard.qkv_width());
    exchange(builder, scenario,
             backward ? "all-to-all of output gradient" : "all-to-all of q, k, v",
             CollectiveKind::all_to_all, static_cast<double>(shard.tokens) * width * shard.element);
  } else {
    exchange(builder, scenario, "all-gather of keys and values", CollectiveKind::all_gather,
             context * own_keys(shard));
  }
}

void append_exchange_after(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                           bool backward) {
  const double context = static_cast<double>(shard.context);
  if (scenario.plan.context_exchange == ContextExchange::ulysses) {
    const double width = static_cast<double>(backward ? shard.qkv_width() : shard.core_width);
    exchange(builder, scenario,
             backward ? "all-to-all of gradients of q, k, v" : "all-to-all of attention output",
             CollectiveKind::all_to_all, static_cast<double>(shard.tokens) * width * shard.element);
  } else if (backward) {
    exchange(builder, scenario, "reduce-scatter of gradients of keys and values",
             CollectiveKind::reduce_scatter, context * own_keys(shard));
  }
}

void append_shared_attention(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                             Flops forward, bool backward) {
  // MFU counts twice the forward products; the kernel also computes the scores again.
  const Flops model_flops = (backward ? 2.0 : 1.0) * forward;
  if (scenario.plan.context_exchange == ContextExchange::ring) {
    append_ring(builder, scenario, shard, model_flops, backward);
    return;
  }
  const bool dealt = scenario.plan.context_exchange == ContextExchange::ulysses;
  append_exchange_before(builder, scenario, shard, backward);
  builder.attention(backward ? "attention, backward" : "attention",
                    dealt ? dealt_shape(scenario, shard, backward)
                          : gathered_shape(scenario, shard, backward),
                    model_flops);
  append_exchange_after(builder, scenario, shard, backward);
}

Bytes exchange_buffer(const Scenario& scenario, const Shard& shard) {
  if (shard.context == 1) return Bytes{0};
  switch (scenario.plan.context_exchange) {
  case ContextExchange::ring:
    return 2.0 * own_keys(shard); // the block at work and the one that arrives
  case ContextExchange::all_gather:
    return static_cast<double>(shard.context) * own_keys(shard);
  case ContextExchange::ulysses:
    return elements(shard.tokens, shard.qkv_width()) * shard.element;
  }
  return Bytes{0};
}

} // namespace clustersim
