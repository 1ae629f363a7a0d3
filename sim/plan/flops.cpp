#include "plan/lower.hpp"

#include "base/bug.hpp"
#include "plan/shard.hpp"
#include "plan/trained.hpp"

#include <algorithm>

namespace clustersim {

namespace {

/// Forward FLOPs of one token, by part; 2 per weight and token, 4·s·width for the two products of
/// attention (docs/explanation/flops.md).
struct TokenFlops {
  double layer_weights = 0; // all layers
  double square = 0;        // attention of all layers, every pair of query and key
  double seen = 0;          // of it, what neither a causal mask nor a window hides
  double head = 0;          // vocabulary head, masked-language transform, pooler, classifier
};

double real(std::int64_t count) {
  return static_cast<double>(count);
}

double query_width(const Transformer& model) {
  return elements(model.heads, model.head_dim);
}

double value_width(const Transformer& model) {
  return model.mla.kv_rank > 0 ? elements(model.heads, model.mla.value_dim) : query_width(model);
}

/// Weights of the products of an attention.
double attention_weights(const Transformer& model) {
  const double hidden = real(model.hidden), query = query_width(model);
  const LatentAttention& mla = model.mla;
  if (mla.kv_rank == 0) {
    const double key = elements(model.kv_heads, model.head_dim);
    return hidden * (query + 2.0 * key) + query * hidden;
  }
  return hidden * real(mla.q_rank + mla.kv_rank + mla.rope_dim) +
         (mla.q_rank > 0 ? real(mla.q_rank) : hidden) * query +
         real(mla.kv_rank) * elements(model.heads, mla.nope_dim + mla.value_dim) +
         value_width(model) * hidden;
}

/// Weights at work on a token in the MLP, or in router and experts.
double mlp_weights(const Transformer& model, bool routed) {
  const double products = model.gated_mlp ? 3.0 : 2.0;
  const double hidden = real(model.hidden);
  if (!routed) return products * hidden * real(model.ffn_hidden);
  const double at_work =
      real(model.moe.top_k) * real(model.moe.ffn_hidden) + real(model.moe.shared_ffn_hidden);
  return hidden * real(model.moe.experts) + products * hidden * at_work;
}

double head_flops(const Transformer& model, double sequence, double masked) {
  const double hidden = real(model.hidden), width = real(table_width(model));
  const double scored = model.mlm_head && masked > 0.0 ? std::min(masked / sequence, 1.0) : 1.0;
  double flops = 0.0;
  if (has_vocabulary_head(model)) flops += scored * 2.0 * width * real(model.vocabulary);
  if (model.mlm_head) flops += scored * 2.0 * hidden * hidden;
  if (model.pooler) flops += 2.0 * hidden * hidden / sequence;
  if (model.sequence_classes > 0) flops += 2.0 * width * real(model.sequence_classes) / sequence;
  if (width != hidden) flops += 2.0 * width * hidden;
  return flops;
}

/// Of a stack of `model.layers`, or of an encoder.
TokenFlops first_stack(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const double sequence = real(scenario.training.sequence);
  const bool causal = model.causal && model.architecture != Architecture::encoder_decoder;
  const double each = 2.0 * sequence * (query_width(model) + value_width(model));
  const double routed = real(expert_layers(model));
  TokenFlops flops;
  flops.layer_weights = 2.0 * (real(model.layers) * attention_weights(model) +
                               (real(model.layers) - routed) * mlp_weights(model, false) +
                               routed * mlp_weights(model, true));
  flops.square = real(model.layers) * each;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const std::int64_t window = is_windowed(kind_of(scenario, i)) ? model.window : 0;
    const double document = real(scenario.training.document.value_or(scenario.training.sequence));
    flops.seen += each * seen_share(document, window, causal) * document / sequence;
  }
  if (table_width(model) != model.hidden) {
    flops.head += 2.0 * elements(table_width(model), model.hidden); // into the first layer
  }
  return flops;
}

/// A decoder on an encoder: `share` of its tokens to each of the encoder's. Every one of its layers
/// projects the encoder's output to keys and values.
void add_decoder(TokenFlops& flops, const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const double source = real(scenario.training.sequence);
  const double target = real(scenario.training.decoder_sequence);
  const double share = target / source, layers = real(model.decoder_layers);
  const double query = query_width(model), hidden = real(model.hidden);
  const double keys = 2.0 * elements(model.kv_heads, model.head_dim);
  const double own = attention_weights(model) + mlp_weights(model, false) + 2.0 * hidden * query;
  flops.layer_weights += 2.0 * layers * (share * own + hidden * keys);
  const double pairs = layers * share * 4.0 * query;
  flops.square += pairs * (target + source);
  flops.seen += pairs * (target * seen_share(target, 0, model.causal) + source);
  flops.head += share * head_flops(model, target, 0.0);
}

/// Multi-token prediction modules: a projection of twice the width to one, a layer, the head.
void add_predictions(TokenFlops& flops, const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const double modules = real(model.mtp_layers), sequence = real(scenario.training.sequence);
  const LayerKind last = kind_of(scenario, model.layers - 1);
  const double weights = 2.0 * elements(model.hidden, model.hidden) + attention_weights(model) +
                         mlp_weights(model, has_experts(last));
  const double each = modules * 2.0 * sequence * (query_width(model) + value_width(model));
  flops.layer_weights += modules * 2.0 * weights;
  flops.square += each;
  const double document = real(scenario.training.document.value_or(scenario.training.sequence));
  flops.seen += each * seen_share(document, is_windowed(last) ? model.window : 0, model.causal) *
                document / sequence;
  flops.head += modules * head_flops(model, sequence, 0.0);
}

TokenFlops per_token(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  TokenFlops flops = first_stack(scenario);
  if (model.decoder_layers > 0) {
    add_decoder(flops, scenario);
  } else {
    flops.head +=
        head_flops(model, real(scenario.training.sequence), real(scenario.training.masked_tokens));
  }
  if (model.mtp_layers > 0) add_predictions(flops, scenario);
  return flops;
}

/// Of the first layers, that no gradient reaches.
TokenFlops frozen_layers(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const double sequence = real(scenario.training.sequence);
  TokenFlops flops;
  for (std::int64_t i = 0; i < scenario.training.tuning.frozen_layers; ++i) {
    const LayerKind kind = kind_of(scenario, i);
    flops.layer_weights += 2.0 * (attention_weights(model) + mlp_weights(model, has_experts(kind)));
    flops.seen += 2.0 * sequence * (query_width(model) + value_width(model)) *
                  seen_share(sequence, is_windowed(kind) ? model.window : 0, model.causal);
  }
  return flops;
}

/// Forward of everything, gradients of what passes one on, weight gradients of what is trained;
/// attention has two gradients for each of its products. An adapter's parameter works on every
/// token once forward and twice backward. All trained: 3 times forward.
double exact_flops(const Scenario& scenario, const TokenFlops& forward) {
  const FineTuning& tuning = scenario.training.tuning;
  if (tuning.trains_all()) return 3.0 * (forward.layer_weights + forward.seen + forward.head);
  const TokenFlops still = frozen_layers(scenario);
  const double weights = forward.layer_weights - still.layer_weights;
  const double adapters = tuning.adapts() ? 2.0 * trained_parameters(scenario) : 0.0;
  const double passes = forward.layer_weights + forward.seen + 2.0 * forward.head;
  const double data = weights + 2.0 * (forward.seen - still.seen);
  const double trained =
      (tuning.adapts() ? 0.0 : weights) + (tuning.trains_head() ? forward.head : 0.0);
  return passes + data + trained + 3.0 * adapters;
}

double six_n(const Scenario& scenario) {
  return 6.0 * static_cast<double>(count_parameters(scenario.model).active);
}

double of_one_token(const Scenario& scenario, FlopConvention convention) {
  const Transformer& model = scenario.model;
  const TokenFlops forward = per_token(scenario);
  switch (convention) {
  case FlopConvention::exact:
    return exact_flops(scenario, forward);
  case FlopConvention::six_n:
    return six_n(scenario);
  case FlopConvention::palm:
    return six_n(scenario) + 12.0 * static_cast<double>(model.layers) *
                                 elements(model.heads, model.head_dim) *
                                 static_cast<double>(scenario.training.sequence);
  case FlopConvention::megatron_model:
    return 3.0 * (forward.layer_weights + forward.square + forward.head);
  case FlopConvention::megatron_hardware:
    return 4.0 * (forward.layer_weights + forward.square) + 3.0 * forward.head;
  }
  throw Bug("unknown FLOP convention");
}

} // namespace

std::string_view name_of(FlopConvention convention) {
  switch (convention) {
  case FlopConvention::exact:
    return "exact";
  case FlopConvention::six_n:
    return "6N";
  case FlopConvention::palm:
    return "6N+12LHS";
  case FlopConvention::megatron_model:
    return "Megatron model";
  case FlopConvention::megatron_hardware:
    return "Megatron hardware";
  }
  throw Bug("unknown FLOP convention");
}

Flops model_flops(const Scenario& scenario, FlopConvention convention) {
  const double tokens = static_cast<double>(scenario.training.global_batch) *
                        static_cast<double>(scenario.training.sequence);
  return Flops{tokens * of_one_token(scenario, convention)};
}

} // namespace clustersim
