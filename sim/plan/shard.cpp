#include "plan/shard.hpp"

#include "law/device.hpp"

#include <algorithm>

namespace clustersim {

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

double norm_width(const Transformer& model) {
  const bool biased = model.norm == NormKind::layer_norm && model.norm_bias;
  return model.norm_weight ? static_cast<double>(model.hidden) * (biased ? 2.0 : 1.0) : 0.0;
}

double replicated_embedding(const Transformer& model) {
  const double rows = static_cast<double>(
      (model.position == PositionKind::learned ? model.max_positions : 0) + model.token_types);
  const double projections =
      table_width(model) != model.hidden ? 2.0 * elements(table_width(model), model.hidden) : 0.0;
  return rows * static_cast<double>(model.hidden) + projections +
         (model.embedding_norm ? norm_width(model) : 0.0);
}

double replicated_layer(const Transformer& model) {
  const double biases = (model.projection_bias ? 1.0 : 0.0) + (model.mlp_bias ? 1.0 : 0.0);
  const LatentAttention& mla = model.mla;
  const double latent = mla.kv_rank > 0
                            ? static_cast<double>(model.hidden) *
                                      static_cast<double>(mla.q_rank + mla.kv_rank + mla.rope_dim) +
                                  static_cast<double>(mla.q_rank + mla.kv_rank)
                            : 0.0;
  return latent + static_cast<double>(model.layer_norms) * norm_width(model) +
         biases * static_cast<double>(model.hidden);
}

/// Self-attention and MLP as in an encoder's layer, then attention to the encoder's output with a
/// norm of its own.
double cross_layer(const Transformer& model, const ParameterCount& whole, double ranks) {
  const double replicated = replicated_layer(model) + norm_width(model) +
                            (model.projection_bias ? static_cast<double>(model.hidden) : 0.0);
  return replicated + (static_cast<double>(whole.decoder_layer) - replicated) / ranks;
}

/// Two norms before, the projection of both to one width, the layer, a norm behind.
Held prediction_module(const Transformer& model, Held layer, double ranks) {
  return layer +
         Held{3.0 * norm_width(model) + 2.0 * elements(model.hidden, model.hidden) / ranks, 0.0};
}

/// The router is on every rank; experts are dealt out to expert groups and cut within one.
Held expert_layer(const Transformer& model, const ParameterCount& whole, const Plan& plan,
                  double repeated) {
  if (model.moe.experts == 0) return {};
  const double experts = static_cast<double>(model.moe.experts);
  const double routed = experts * static_cast<double>(whole.expert);
  const double router =
      static_cast<double>(model.hidden) * (experts + (model.moe.shared_gate ? 1.0 : 0.0)) +
      (model.moe.router_bias ? experts : 0.0);
  const double replicated = replicated_layer(model) + router;
  const double split = static_cast<double>(whole.moe_layer) - routed - replicated;
  return {.dense = replicated + split / plan.tensor + repeated,
          .experts = routed / plan.expert / plan.expert_tensor};
}

/// K and V weights beyond an even split, when ranks outnumber K/V heads.
double repeated_key_values(const Transformer& model, const Shard& shard) {
  if (shard.latent > 0) return 0.0;
  const double even = elements(model.kv_heads, model.head_dim) / static_cast<double>(shard.tensor);
  const double rows = static_cast<double>(model.hidden) + (model.attention_bias ? 1.0 : 0.0);
  return 2.0 * (static_cast<double>(shard.key_width) - even) * rows;
}

} // namespace

bool runs(KernelCondition when, const Scenario& scenario) {
  switch (when) {
  case KernelCondition::always:
    return true;
  case KernelCondition::gated:
    return scenario.model.gated_mlp;
  case KernelCondition::ungated:
    return !scenario.model.gated_mlp;
  case KernelCondition::dropout:
    return scenario.training.dropout;
  case KernelCondition::no_dropout:
    return !scenario.training.dropout;
  }
  return false;
}

Precision activation_type(Precision training) {
  switch (training) {
  case Precision::fp8:
  case Precision::fp4:
  case Precision::int8:
  case Precision::int4:
    return Precision::bf16;
  case Precision::tf32:
    return Precision::fp32;
  case Precision::fp64:
  case Precision::fp32:
  case Precision::fp16:
  case Precision::bf16:
    break;
  }
  return training;
}

bool attention_is_fused(const Scenario& scenario) {
  const Bytes element = bytes_per_element(activation_type(scenario.training.precision));
  // No fused kernel of any stack adds a bias per pair and sums its gradient.
  return element == Bytes{2} && scenario.model.position != PositionKind::relative &&
         attention_kernel_for(scenario.chip(), scenario.training.stack) != unfused_attention;
}

Bytes stored_weight(const Inference& serving) {
  const Bytes element = bytes_per_element(serving.weights);
  const bool scaled = element < Bytes{1};
  const Bytes scale =
      bytes_per_element(Precision::fp16) / static_cast<double>(serving.weight_group);
  return scaled ? element + scale : element;
}

std::int64_t table_width(const Transformer& model) {
  return model.embedding_width > 0 ? model.embedding_width : model.hidden;
}

bool has_vocabulary_head(const Transformer& model) {
  return model.vocabulary_head && (model.architecture != Architecture::encoder || model.mlm_head);
}

bool keeps_fp32_weights(const Scenario& scenario) {
  return std::ranges::any_of(scenario.training.stack.recipe.kernels,
                             [](const FusedKernel& kernel) { return kernel.site == Site::cast; });
}

Bytes weight_element(const Scenario& scenario) {
  return keeps_fp32_weights(scenario)
             ? bytes_per_element(Precision::fp32)
             : bytes_per_element(activation_type(scenario.training.precision));
}

Bytes gradient_element(const Scenario& scenario) {
  return bytes_per_element(scenario.training.gradient_dtype);
}

bool trains_embedding(const Scenario& scenario) {
  return scenario.training.tuning.trains_embedding();
}

bool trains_head(const Scenario& scenario) {
  return scenario.training.tuning.trains_head();
}

double hidden_elements(const Shard& shard) {
  return elements(shard.tokens, shard.hidden);
}

double local_hidden_elements(const Shard& shard) {
  return elements(shard.local_tokens, shard.hidden);
}

double score_elements(const Shard& shard, std::int64_t keys) {
  return elements(shard.batch, shard.heads) * elements(shard.queries, keys);
}

Bytes hidden_payload(const Shard& shard) {
  return hidden_elements(shard) * shard.element;
}

LayerKind kind_of(const Scenario& scenario, std::int64_t layer) {
  const bool narrow = is_windowed(scenario.model, layer, scenario.training.sequence);
  if (has_experts(scenario.model, layer)) {
    return narrow ? LayerKind::window_experts : LayerKind::experts;
  }
  return narrow ? LayerKind::window_dense : LayerKind::dense;
}

void set_tokens(Shard& shard, std::int64_t tokens) {
  shard.tokens = tokens;
  shard.local_tokens = shard.sequence_parallel ? ceil_div(tokens, shard.tensor) : tokens;
}

Shard shard_for(const Scenario& scenario, Shard shard, LayerKind kind) {
  shard.window = is_windowed(kind) ? scenario.model.window : 0;
  if (kind != LayerKind::cross) return shard;
  shard.causal = scenario.model.causal;
  shard.source = scenario.training.sequence;
  shard.sequence = scenario.training.decoder_sequence;
  shard.document = shard.sequence; // none are packed beside an encoder
  shard.queries = ceil_div(shard.sequence, shard.context);
  set_tokens(shard, shard.batch * shard.queries);
  return shard;
}

Shard shard_for_head(const Scenario& scenario, const Shard& shard) {
  const bool both = scenario.model.architecture == Architecture::encoder_decoder;
  return both ? shard_for(scenario, shard, LayerKind::cross) : shard;
}

std::int64_t scored_tokens(const Scenario& scenario, const Shard& shard) {
  const std::int64_t masked = scenario.training.masked_tokens;
  if (!scenario.model.mlm_head || masked == 0) return shard.tokens;
  return std::min(shard.batch * ceil_div(masked, shard.context), shard.tokens);
}

std::vector<Shard> scored_pieces(const Scenario& scenario, const Shard& shard) {
  const std::int64_t tokens = scored_tokens(scenario, shard);
  const std::int64_t count = std::min(scenario.training.loss_chunks, tokens);
  std::vector<Shard> pieces(static_cast<std::size_t>(count), shard);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t here = tokens / count + (i < tokens % count ? 1 : 0);
    set_tokens(pieces[static_cast<std::size_t>(i)], here);
  }
  return pieces;
}

double seen_share(double sequence, std::int64_t window, bool causal) {
  const double width = window > 0 ? std::min(static_cast<double>(window) / sequence, 1.0) : 1.0;
  return causal ? width - width * width / 2.0 : width;
}

Shard shard_of(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  Shard shard;
  shard.tensor = scenario.plan.tensor;
  shard.sequence_parallel = scenario.plan.sequence_parallel && shard.tensor > 1;
  shard.batch = scenario.plan.micro_batch;
  shard.sequence = scenario.training.sequence;
  shard.context = scenario.plan.context;
  shard.document = scenario.training.document.value_or(shard.sequence);
  shard.queries = ceil_div(shard.sequence, shard.context);
  set_tokens(shard, shard.batch * shard.queries);
  shard.causal = model.causal && model.architecture != Architecture::encoder_decoder;
  shard.hidden = model.hidden;
  shard.heads = ceil_div(model.heads, shard.tensor);
  shard.kv_heads = ceil_div(model.kv_heads, shard.tensor);
  shard.head_dim = model.head_dim;
  shard.query_width = shard.heads * model.head_dim;
  shard.key_width = shard.kv_heads * model.head_dim;
  const LatentAttention& mla = model.mla;
  const bool latent = mla.kv_rank > 0;
  if (latent) shard.latent = mla.q_rank + mla.kv_rank + mla.rope_dim;
  shard.value_width = latent ? shard.heads * mla.value_dim : shard.key_width;
  shard.core_width = latent ? shard.value_width : shard.query_width;
  shard.ffn = ceil_div(model.ffn_hidden, shard.tensor);
  shard.up = shard.ffn * (model.gated_mlp ? 2 : 1);
  shard.vocabulary = ceil_div(model.vocabulary, shard.tensor);
  shard.matmul = scenario.training.precision;
  shard.activation = activation_type(shard.matmul);
  shard.element = bytes_per_element(shard.activation);
  if (scenario.serves()) {
    shard.serves = true;
    shard.weight = stored_weight(scenario.inference);
  }
  return shard;
}

LocalParameters local_parameters(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const Shard shard = shard_of(scenario);
  const ParameterCount whole = count_parameters(model);
  const double ranks = static_cast<double>(shard.tensor);
  const auto split = [ranks](std::int64_t count, double replicated) {
    return replicated + (static_cast<double>(count) - replicated) / ranks;
  };
  const double vocabulary_weights = elements(model.vocabulary, table_width(model));
  const bool untied = has_vocabulary_head(model) && !model.tied_embeddings;
  const double replicated_head = static_cast<double>(whole.head) -
                                 (untied ? vocabulary_weights : 0.0) -
                                 (model.mlm_head ? static_cast<double>(model.vocabulary) : 0.0);

  LocalParameters local;
  local.embedding = split(whole.embedding, replicated_embedding(model));
  local.per_layer =
      split(whole.per_layer, replicated_layer(model)) + repeated_key_values(model, shard);
  local.head = split(whole.head, replicated_head);
  local.layer[0] = {.dense = local.per_layer, .experts = 0.0};
  local.layer[1] = expert_layer(model, whole, scenario.plan, repeated_key_values(model, shard));
  local.layer[2] = local.layer[0];
  local.layer[3] = local.layer[1];
  local.layer[4] = {.dense =
                        cross_layer(model, whole, ranks) + 2.0 * repeated_key_values(model, shard),
                    .experts = 0.0};
  local.prediction = prediction_module(model, local.of(kind_of(scenario, model.layers - 1)), ranks);
  const double routed = static_cast<double>(expert_layers(model));
  const Held layers = (static_cast<double>(model.layers) - routed) * local.layer[0] +
                      routed * local.layer[1] +
                      static_cast<double>(model.decoder_layers) * local.of(LayerKind::cross) +
                      static_cast<double>(model.mtp_layers) * local.prediction;
  local.total = local.embedding + layers.total() + local.head;
  local.layer_norms = static_cast<double>(model.layer_norms) * norm_width(model);
  local.largest_weight =
      elements(shard.hidden, std::max({shard.up, shard.ffn, shard.qkv_width(), shard.query_width}));
  return local;
}

namespace {

ShardedStates sharded_over(const Plan& plan, int all) {
  const double ranks = plan.hybrid_shard > 1 ? std::min(plan.hybrid_shard, all) : all;
  return {.weights = plan.zero >= 3 ? ranks : 1.0,
          .gradients = plan.zero >= 2 ? ranks : 1.0,
          .optimizer = plan.zero >= 1 ? ranks : 1.0};
}

} // namespace

ShardedStates sharded_states(const Scenario& scenario) {
  return sharded_over(scenario.plan, scenario.data_ranks());
}

ShardedStates sharded_experts(const Scenario& scenario) {
  return sharded_over(scenario.plan, scenario.expert_data_ranks());
}

double sharded(const Scenario& scenario, Held held, double ShardedStates::*states) {
  return held.dense / (sharded_states(scenario).*states) +
         held.experts / (sharded_experts(scenario).*states);
}

} // namespace clustersim
