#include "plan/lower.hpp"

#include "base/bug.hpp"
#include "plan/shard.hpp"

namespace clustersim {

namespace {

/// Forward FLOPs of one token, by part; 2 per weight and token, 4·s·width for the two products of
/// attention (docs/explanation/flops.md).
struct TokenFlops {
  double layer_weights = 0; // all layers
  double attention = 0;     // all layers, the full s × s square
  double head = 0;          // vocabulary head, masked-language transform, pooler
};

TokenFlops per_token(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double hidden = real(model.hidden);
  const double query = real(model.heads) * real(model.head_dim);
  const double key = real(model.kv_heads) * real(model.head_dim);
  const double products = model.gated_mlp ? 3.0 : 2.0;
  const LatentAttention& mla = model.mla;
  const double values = mla.kv_rank > 0 ? real(model.heads) * real(mla.value_dim) : query;
  const double attention =
      mla.kv_rank > 0
          ? hidden * real(mla.q_rank + mla.kv_rank + mla.rope_dim) +
                (mla.q_rank > 0 ? real(mla.q_rank) : hidden) * query +
                real(mla.kv_rank) * real(model.heads) * real(mla.nope_dim + mla.value_dim) +
                values * hidden
          : hidden * (query + 2.0 * key) + query * hidden;
  const double mlp = products * hidden * real(model.ffn_hidden);
  const double at_work =
      real(model.moe.top_k) * real(model.moe.ffn_hidden) + real(model.moe.shared_ffn_hidden);
  const double experts = hidden * real(model.moe.experts) + products * hidden * at_work;
  const double routed = real(expert_layers(model));

  TokenFlops flops;
  flops.layer_weights = 2.0 * (real(model.layers) * attention +
                               (real(model.layers) - routed) * mlp + routed * experts);
  flops.attention = real(model.layers) * 2.0 * real(scenario.training.sequence) * (query + values);
  if (has_vocabulary_head(model)) flops.head += 2.0 * hidden * real(model.vocabulary);
  if (model.mlm_head) flops.head += 2.0 * hidden * hidden;
  if (model.pooler) flops.head += 2.0 * hidden * hidden / real(scenario.training.sequence);
  return flops;
}

double six_n(const Scenario& scenario) {
  return 6.0 * static_cast<double>(count_parameters(scenario.model).active);
}

double of_one_token(const Scenario& scenario, FlopConvention convention) {
  const Transformer& model = scenario.model;
  const TokenFlops forward = per_token(scenario);
  switch (convention) {
  case FlopConvention::exact:
    return 3.0 *
           (forward.layer_weights + forward.attention * (model.causal ? 0.5 : 1.0) + forward.head);
  case FlopConvention::six_n:
    return six_n(scenario);
  case FlopConvention::palm:
    return six_n(scenario) + 12.0 * static_cast<double>(model.layers) *
                                 elements(model.heads, model.head_dim) *
                                 static_cast<double>(scenario.training.sequence);
  case FlopConvention::megatron_model:
    return 3.0 * (forward.layer_weights + forward.attention + forward.head);
  case FlopConvention::megatron_hardware:
    return 4.0 * (forward.layer_weights + forward.attention) + 3.0 * forward.head;
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
