// Counting rules and worked examples: docs/explanation/parameters.md.

#include "spec/transformer.hpp"

#include <algorithm>

namespace clustersim {
namespace {

std::int64_t table_width(const Transformer& m) {
  return m.embedding_width > 0 ? m.embedding_width : m.hidden;
}

std::int64_t norm_of(const Transformer& m, std::int64_t width) {
  const bool bias = m.norm == NormKind::layer_norm && m.norm_bias;
  return m.norm_weight ? width * (bias ? 2 : 1) : 0;
}

std::int64_t norm_parameters(const Transformer& m) {
  return norm_of(m, m.hidden);
}

std::int64_t query_key_norms(const Transformer& m) {
  switch (m.qk_norm) {
  case QueryKeyNorm::none:
    break;
  case QueryKeyNorm::head:
    return 2 * norm_of(m, m.head_dim);
  case QueryKeyNorm::width:
    return norm_of(m, m.heads * m.head_dim) + norm_of(m, m.kv_heads * m.head_dim);
  }
  return 0;
}

/// Down to the latents, a norm on each, up to the heads (DeepSeek-V2, section 2.1). A bias stands
/// on the two down projections and on the output.
std::int64_t latent_attention(const Transformer& m) {
  const LatentAttention& a = m.mla;
  const std::int64_t query = m.heads * (a.nope_dim + a.rope_dim);
  const std::int64_t queries = a.q_rank == 0
                                   ? m.hidden * query
                                   : m.hidden * a.q_rank + norm_of(m, a.q_rank) + a.q_rank * query;
  const std::int64_t down = a.kv_rank + a.rope_dim;
  const std::int64_t key_values =
      m.hidden * down + norm_of(m, a.kv_rank) + a.kv_rank * m.heads * (a.nope_dim + a.value_dim);
  return queries + key_values + m.heads * a.value_dim * m.hidden +
         (m.attention_bias ? a.q_rank + down : 0) + (m.projection_bias ? m.hidden : 0);
}

std::int64_t attention_parameters(const Transformer& m) {
  if (m.mla.kv_rank > 0) {
    return latent_attention(m);
  }
  const std::int64_t query = m.heads * m.head_dim;
  const std::int64_t key_value = m.kv_heads * m.head_dim;
  return m.hidden * (query + 2 * key_value) + query * m.hidden +
         (m.attention_bias ? query + 2 * key_value : 0) + (m.projection_bias ? m.hidden : 0) +
         query_key_norms(m) + (m.attention_sinks ? m.heads : 0);
}

std::int64_t mlp_parameters(const Transformer& m, std::int64_t ffn) {
  const std::int64_t up = m.gated_mlp ? 2 : 1;
  return (up + 1) * m.hidden * ffn + (m.mlp_bias ? up * ffn + m.hidden : 0);
}

std::int64_t experts_parameters(const Transformer& m) {
  const MixtureOfExperts& e = m.moe;
  const std::int64_t router = m.hidden * e.experts + (e.router_bias ? e.experts : 0);
  const std::int64_t shared = e.shared_ffn_hidden > 0 ? mlp_parameters(m, e.shared_ffn_hidden) : 0;
  return router + e.experts * mlp_parameters(m, e.ffn_hidden) + shared +
         (e.shared_gate ? m.hidden : 0);
}

std::int64_t head_parameters(const Transformer& m) {
  const std::int64_t dense = m.hidden * m.hidden + m.hidden; // of the pooler, of the MLM transform
  const std::int64_t stacks = m.architecture == Architecture::encoder_decoder ? 2 : 1;
  const bool scores = m.vocabulary_head && (m.architecture != Architecture::encoder || m.mlm_head);
  const bool own_table = scores && !m.tied_embeddings;
  return (own_table ? m.vocabulary * table_width(m) : 0) + (m.head_bias ? m.vocabulary : 0) +
         (m.final_norm ? stacks * norm_parameters(m) : 0) + (m.pooler ? dense : 0) +
         m.sequence_classes * (table_width(m) + (m.class_bias ? 1 : 0)) +
         (m.mlm_head ? dense + norm_parameters(m) + m.vocabulary : 0);
}

std::int64_t table_parameters(const Transformer& m) {
  const std::int64_t positions = m.position == PositionKind::learned ? m.max_positions : 0;
  return (m.vocabulary + m.token_types) * table_width(m) + positions * m.hidden;
}

/// Into the residual stream and back out of it.
std::int64_t embedding_projections(const Transformer& m) {
  return table_width(m) == m.hidden ? 0 : 2 * table_width(m) * m.hidden;
}

std::int64_t relative_biases(const Transformer& m) {
  const std::int64_t stacks = m.architecture == Architecture::encoder_decoder ? 2 : 1;
  return m.position == PositionKind::relative ? stacks * m.relative_buckets * m.heads : 0;
}

/// A norm on the embedding and one on the hidden state, a projection of both to one width, a layer
/// like the last, a norm; embedding and head are the model's own (DeepSeek-V3, arXiv 2412.19437,
/// section 2.2).
std::int64_t mtp_parameters(const Transformer& m, std::int64_t last_layer) {
  return m.mtp_layers * (last_layer + 2 * m.hidden * m.hidden + 3 * norm_parameters(m));
}

/// By interval, before the layers that are listed as dense.
bool is_experts_turn(const MixtureOfExperts& e, std::int64_t layer) {
  return layer >= e.dense_first && (layer - e.dense_first + 1) % e.interval == 0;
}

} // namespace

bool has_experts(const Transformer& m, std::int64_t layer) {
  const MixtureOfExperts& e = m.moe;
  return e.experts > 0 && is_experts_turn(e, layer) &&
         !std::ranges::binary_search(e.dense_layers, layer);
}

std::int64_t expert_layers(const Transformer& m) {
  if (m.moe.experts == 0) return 0;
  const MixtureOfExperts& e = m.moe;
  const auto taken_out = std::ranges::count_if(
      e.dense_layers, [&](std::int64_t layer) { return is_experts_turn(e, layer); });
  return (m.layers - e.dense_first) / e.interval - taken_out;
}

bool is_windowed(const Transformer& m, std::int64_t layer, std::int64_t sequence) {
  const bool narrow = m.window > 0 && m.window < sequence;
  const bool in_turn = m.full_every > 0 && (layer + 1) % m.full_every == 0;
  return narrow && !in_turn && !std::ranges::binary_search(m.full_layers, layer);
}

ParameterCount count_parameters(const Transformer& m) {
  const std::int64_t with_experts = expert_layers(m);
  const std::int64_t around = attention_parameters(m) + m.layer_norms * norm_parameters(m);
  ParameterCount count;
  count.tables = table_parameters(m);
  count.embedding = count.tables + embedding_projections(m) + relative_biases(m) +
                    (m.embedding_norm ? norm_parameters(m) : 0);
  count.per_layer = around + mlp_parameters(m, m.ffn_hidden);
  if (m.moe.experts > 0) {
    count.moe_layer = around + experts_parameters(m);
    count.expert = mlp_parameters(m, m.moe.ffn_hidden);
  }
  if (m.architecture == Architecture::encoder_decoder) {
    count.decoder_layer = count.per_layer + attention_parameters(m) + norm_parameters(m);
  }
  count.mtp = mtp_parameters(m, with_experts > 0 ? count.moe_layer : count.per_layer);
  count.head = head_parameters(m);
  count.total = count.embedding + (m.layers - with_experts) * count.per_layer +
                with_experts * count.moe_layer + m.decoder_layers * count.decoder_layer +
                count.mtp + count.head + m.tower_parameters;
  const std::int64_t routed = with_experts + (with_experts > 0 ? m.mtp_layers : 0);
  count.active = count.total - routed * (m.moe.experts - m.moe.top_k) * count.expert;
  return count;
}

std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor) {
  const std::int64_t multiple = 128 * tensor;
  return vocabulary % tensor == 0 ? vocabulary : (vocabulary + multiple - 1) / multiple * multiple;
}

} // namespace clustersim
