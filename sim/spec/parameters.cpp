// Counting rules and worked examples: docs/explanation/parameters.md.

#include "spec/transformer.hpp"

namespace clustersim {
namespace {

std::int64_t norm_parameters(const Transformer& m) {
  const bool bias = m.norm == NormKind::layer_norm && m.norm_bias;
  return m.hidden * (bias ? 2 : 1);
}

std::int64_t attention_parameters(const Transformer& m) {
  const std::int64_t query = m.heads * m.head_dim;
  const std::int64_t key_value = m.kv_heads * m.head_dim;
  return m.hidden * (query + 2 * key_value) + query * m.hidden +
         (m.attention_bias ? query + 2 * key_value : 0) + (m.projection_bias ? m.hidden : 0);
}

std::int64_t mlp_parameters(const Transformer& m) {
  const std::int64_t up = m.gated_mlp ? 2 : 1;
  return (up + 1) * m.hidden * m.ffn_hidden + (m.mlp_bias ? up * m.ffn_hidden + m.hidden : 0);
}

std::int64_t head_parameters(const Transformer& m) {
  const std::int64_t dense = m.hidden * m.hidden + m.hidden; // of the pooler, of the MLM transform
  return (m.tied_embeddings ? 0 : m.vocabulary * m.hidden) +
         (m.final_norm ? norm_parameters(m) : 0) + (m.pooler ? dense : 0) +
         (m.mlm_head ? dense + norm_parameters(m) + m.vocabulary : 0);
}

} // namespace

ParameterCount count_parameters(const Transformer& m) {
  const std::int64_t positions = m.position == PositionKind::learned ? m.max_positions : 0;
  ParameterCount count;
  count.embedding = (m.vocabulary + positions + m.token_types) * m.hidden +
                    (m.embedding_norm ? norm_parameters(m) : 0);
  count.per_layer =
      attention_parameters(m) + mlp_parameters(m) + (m.parallel_block ? 1 : 2) * norm_parameters(m);
  count.head = head_parameters(m);
  count.total = count.embedding + m.layers * count.per_layer + count.head;
  return count;
}

std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor) {
  const std::int64_t multiple = 128 * tensor;
  return vocabulary % tensor == 0 ? vocabulary : (vocabulary + multiple - 1) / multiple * multiple;
}

} // namespace clustersim
