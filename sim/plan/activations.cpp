#include "plan/activations.hpp"

#include "plan/experts.hpp"
#include "plan/layer.hpp"
#include "plan/trained.hpp"

#include <algorithm>
#include <initializer_list>

namespace clustersim {

namespace {

/// The saved operand of a GEMM: quantised products keep the quantised copy.
Bytes operand(const Shard& shard) {
  return is_quantised(shard.matmul) ? bytes_per_element(shard.matmul) : shard.element;
}

/// Of self-attention and of attention to an encoder's output.
double all_scores(const Shard& shard) {
  return score_elements(shard, shard.sequence) + score_elements(shard, shard.source);
}

/// Per score: softmax output, and with dropout its mask (one byte) and the dropped copy.
Bytes core_bytes(const Scenario& scenario, const Shard& shard) {
  if (attention_is_fused(scenario)) {
    const double cores = shard.source > 0 ? 2.0 : 1.0;
    return cores * elements(shard.tokens, shard.heads) * bytes_per_element(Precision::fp32);
  }
  const double scores = all_scores(shard);
  const Bytes dropped = scenario.training.dropout ? Bytes{1} + shard.element : Bytes{0};
  return scores * (shard.element + dropped);
}

/// Before attention, before the MLP, and before the attention to an encoder.
double usual_norms(const Scenario& scenario, const Shard& shard) {
  return (scenario.model.parallel_block ? 1.0 : 2.0) + (shard.source > 0 ? 1.0 : 0.0);
}

/// A norm behind attention or MLP keeps its input; a second one before a parallel block shares it
/// and keeps the operand that it makes.
Bytes kept_by_extra_norms(const Scenario& scenario, const Shard& shard) {
  const double count = static_cast<double>(extra_norms(scenario.model));
  return count * local_hidden_elements(shard) *
         (scenario.model.parallel_block ? operand(shard) : shard.element);
}

/// Queries, the encoder's keys and values, and what goes into the second output projection; the
/// encoder's output itself is kept once for all layers.
Bytes cross_bytes(const Shard& shard) {
  if (shard.source == 0) return Bytes{0};
  const double queries = elements(shard.tokens, shard.query_width + shard.core_width);
  const double keys = elements(source_tokens(shard), shard.key_width + shard.value_width);
  return (queries + keys) * shard.element;
}

/// The tensor that a site's kernels work on, on one rank and once per layer.
double site_elements(Site site, const Scenario& scenario, const Shard& shard) {
  switch (site) {
  case Site::norm:
    return local_hidden_elements(shard) *
           (usual_norms(scenario, shard) + static_cast<double>(extra_norms(scenario.model)));
  case Site::residual:
    return local_hidden_elements(shard) * (shard.source > 0 ? 3.0 : 2.0);
  case Site::qkv:
    return elements(shard.tokens, shard.qkv_width());
  case Site::rope:
    return scenario.model.position == PositionKind::rotary
               ? elements(shard.tokens, shard.query_width + shard.key_width)
               : 0.0;
  case Site::score:
    return attention_is_fused(scenario) ? 0.0 : all_scores(shard);
  case Site::context:
    return elements(shard.tokens, shard.core_width) * (shard.source > 0 ? 2.0 : 1.0);
  case Site::activation:
    return elements(shard.tokens, shard.ffn);
  case Site::embedding:
  case Site::loss:
  case Site::gradient:
  case Site::adapter:
  case Site::cast:
  case Site::quantise:
    break; // not of a layer, or nothing kept
  }
  return 0.0;
}

/// The operand of a product is kept for a weight's or an adapter's gradient; a frozen weight's
/// needs none.
bool keeps_operand(const Scenario& scenario, std::initializer_list<Matrix> of) {
  const FineTuning& tuning = scenario.training.tuning;
  return !tuning.adapts() ||
         std::ranges::any_of(of, [&](Matrix matrix) { return tuning.adapts(matrix); });
}

bool keeps_attention_input(const Scenario& scenario) {
  return keeps_operand(scenario, {Matrix::query, Matrix::key, Matrix::value, Matrix::latent});
}

/// Outputs of norms that are operands of products.
double norm_operands(const Scenario& scenario, const Shard& shard) {
  const bool attention = keeps_attention_input(scenario);
  const bool mlp = keeps_operand(scenario, {Matrix::gate, Matrix::up});
  if (scenario.model.parallel_block) return attention || mlp ? 1.0 : 0.0;
  const double cross = shard.source > 0 && keeps_operand(scenario, {Matrix::query}) ? 1.0 : 0.0;
  return (attention ? 1.0 : 0.0) + (mlp ? 1.0 : 0.0) + cross;
}

/// What attention hands to its output projection: the fused kernel's backward pass reads it too.
Bytes kept_context(const Scenario& scenario, const Shard& shard) {
  const bool kept = attention_is_fused(scenario) || keeps_operand(scenario, {Matrix::output});
  return kept ? shard.element : Bytes{0};
}

Bytes kept_by_adapters(const Scenario& scenario, const Shard& shard, LayerKind kind) {
  const FineTuning& tuning = scenario.training.tuning;
  if (!tuning.adapts()) return Bytes{0};
  double factors = 0.0;
  for (const WeightMatrix& matrix : layer_matrices(scenario, shard, kind))
    factors += tuning.adapts(matrix.place) && !matrix.routed ? 1.0 : 0.0;
  return factors * elements(shard.tokens, tuning.rank) * shard.element;
}

/// Copies sent to and received by the experts, what their two products keep, and the experts that
/// work on every token.
Bytes expert_bytes(const Scenario& scenario, const Shard& shard) {
  const ExpertShard experts = expert_shard(scenario, shard);
  const Transformer& model = scenario.model;
  const double shared =
      elements(shard.tokens, model.moe.shared_ffn_hidden) / static_cast<double>(shard.tensor);
  const Bytes outputs = elements(experts.sent, shard.hidden) * shard.element; // for their weights
  const Bytes kept = scenario.training.tuning.adapts() ? Bytes{0} : operand(shard);
  const Bytes inputs = elements(experts.received, shard.hidden) * kept;
  const Bytes inside = elements(experts.received, experts.up) * shard.element +
                       elements(experts.received, experts.ffn) * kept;
  const Bytes scores =
      elements(shard.local_tokens, model.moe.experts) * bytes_per_element(Precision::fp32);
  return outputs + inputs + inside + scores +
         shared * ((model.gated_mlp ? 2.0 : 1.0) * shard.element + operand(shard));
}

Bytes kept_by_fusion(const Scenario& scenario, const Shard& shard) {
  Bytes kept;
  for (const FusedKernel& kernel : scenario.training.stack.recipe.kernels) {
    if (kernel.saved > 0.0 && runs(kernel.when, scenario)) {
      kept += site_elements(kernel.site, scenario, shard) * Bytes{kernel.saved};
    }
  }
  return kept;
}

/// torchtitan's per-operator policy (torchtitan/parallelisms: `_get_custom_policy`) keeps the
/// outputs of products 1, 3, 5 ... of a layer, counted with q, k, v, gate and up apart, and that of
/// attention. Experts are run again whole.
Bytes saved_products(const Scenario& scenario, const Shard& shard, LayerKind kind) {
  double width = static_cast<double>(shard.query_width + shard.value_width + shard.core_width);
  double local = 0.0;
  if (!has_experts(kind)) {
    width += static_cast<double>(shard.ffn);
    if (scenario.model.gated_mlp) local = local_hidden_elements(shard); // the down projection's
  }
  return (static_cast<double>(shard.tokens) * width + local) * shard.element;
}

} // namespace

LayerActivations layer_activations(const Scenario& scenario, const Shard& base, LayerKind kind) {
  const Shard shard = shard_for(scenario, base, kind);
  const double local = local_hidden_elements(shard);
  const double norms = usual_norms(scenario, shard);
  const double core = elements(shard.tokens, shard.core_width);
  const bool quantised = is_quantised(shard.matmul);

  LayerActivations kept;
  kept.norms = norms * local * shard.element +
               norm_operands(scenario, shard) * local * operand(shard) +
               kept_by_extra_norms(scenario, shard);
  // All-to-all attention hands on its output in another layout than it keeps.
  const bool dealt =
      shard.context > 1 && scenario.plan.context_exchange == ContextExchange::ulysses;
  kept.attention = elements(shard.tokens, shard.qkv_width()) * shard.element +
                   2.0 * elements(shard.tokens, shard.latent) * shard.element + // and normed
                   core * (kept_context(scenario, shard) + (quantised ? operand(shard) : Bytes{0}) +
                           (dealt ? shard.element : Bytes{0})) +
                   cross_bytes(shard);
  kept.core = core_bytes(scenario, shard);
  kept.mlp = has_experts(kind)
                 ? expert_bytes(scenario, shard)
                 : elements(shard.tokens, shard.up) * shard.element +
                       elements(shard.tokens, shard.ffn) *
                           (keeps_operand(scenario, {Matrix::down}) ? operand(shard) : Bytes{0});
  kept.adapters = kept_by_adapters(scenario, shard, kind);
  const double masks = shard.source > 0 ? 3.0 : 2.0;
  kept.masks = scenario.training.dropout ? masks * local * Bytes{1} : Bytes{0};
  kept.fusion = kept_by_fusion(scenario, shard);
  return kept;
}

Bytes layer_input(const Shard& shard) {
  return local_hidden_elements(shard) * shard.element;
}

Bytes kept_per_layer(const Scenario& scenario, const Shard& base, LayerKind kind,
                     Recompute recompute) {
  const Shard shard = shard_for(scenario, base, kind);
  const LayerActivations layer = layer_activations(scenario, shard, kind);
  switch (recompute) {
  case Recompute::none:
    return layer.all();
  case Recompute::selective:
    return layer.all() - layer.core;
  case Recompute::operators:
    return std::min(layer.all(), layer_input(shard) + saved_products(scenario, shard, kind) +
                                     core_bytes(scenario, shard));
  case Recompute::full:
    return layer_input(shard);
  }
  return layer.all();
}

Bytes kept_per_layer(const Scenario& scenario, const Shard& shard, LayerKind kind) {
  return kept_per_layer(scenario, shard, kind, scenario.plan.recompute);
}

Bytes restored_in_backward(const Scenario& scenario, const Shard& shard, LayerKind kind,
                           std::int64_t layers) {
  // What is kept, the input of a group among it, is there already.
  return static_cast<double>(layers) * layer_activations(scenario, shard, kind).all() -
         kept_per_layer(scenario, shard, kind);
}

Bytes gradients_in_flight(const Scenario& scenario, const Shard& base, LayerKind kind) {
  const Shard shard = shard_for(scenario, base, kind);
  const ExpertShard experts = has_experts(kind) ? expert_shard(scenario, shard) : ExpertShard{};
  const Bytes mlp = (has_experts(kind) ? elements(experts.received, experts.up + experts.ffn)
                                       : elements(shard.tokens, shard.up + shard.ffn)) *
                    shard.element;
  Bytes attention = elements(shard.tokens, shard.qkv_width() + shard.core_width) * shard.element;
  if (!attention_is_fused(scenario)) {
    attention += score_elements(shard, shard.sequence) * shard.element;
  }
  return std::max(mlp, attention) + hidden_elements(shard) * shard.element;
}

} // namespace clustersim
