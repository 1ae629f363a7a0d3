#include "plan/experts.hpp"
#include "plan/layer.hpp"
#include "plan/offload.hpp"

namespace clustersim {

namespace {

struct BackwardPass {
  BlockBuilder& builder;
  const Scenario& scenario;
  const Shard& shard;
  LayerLinears linears;

  /// Row-parallel: under SP the output's gradient is gathered, then serves both products.
  void leave(const Linear& linear, bool gather) const {
    const auto product = [&] { builder.data_gradient(linear); };
    if (gather && shard.sequence_parallel) {
      builder.tensor_collective("all-gather of gradient of " + linear.name,
                                CollectiveKind::all_gather, hidden_payload(shard),
                                scenario.training.stack.overlap.tensor, Side::before, product);
    } else {
      product();
    }
    builder.weight_gradient(linear);
  }

  /// Column-parallel: SP kept only its part of the input and gathers it again for the weight
  /// gradient, beside the data gradient; the data gradient is summed beside the weight gradient.
  void enter(const Linear& linear, bool gather, bool reduce) const {
    const Stack::Overlap& overlap = scenario.training.stack.overlap;
    const bool sp = shard.sequence_parallel;
    const auto data = [&] { builder.data_gradient(linear); };
    const auto weight = [&] { builder.weight_gradient(linear); };
    if (gather && sp) {
      builder.tensor_collective("all-gather of input of " + linear.name, CollectiveKind::all_gather,
                                hidden_payload(shard), overlap.tensor, Side::before, data);
    } else {
      data();
    }
    if (!reduce) return weight();
    builder.tensor_collective(
        (sp ? "reduce-scatter of input gradient of " : "all-reduce of input gradient of ") +
            linear.name,
        sp ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, hidden_payload(shard),
        overlap.tensor_gradient.value_or(overlap.tensor), Side::before, weight);
  }

  void mlp(bool gather_gradient, bool reduce) const {
    leave(linears.down, gather_gradient);
    builder.kernels(Site::activation, elements(shard.tokens, shard.ffn));
    enter(linears.up, true, reduce);
  }

  void attention(bool gather_gradient, bool gather_input) const {
    leave(linears.projection, gather_gradient);
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    append_attention_core_backward(builder, scenario, shard);
    if (scenario.model.qk_norm != QueryKeyNorm::none) {
      builder.kernels(Site::norm, elements(shard.tokens, shard.query_width + shard.key_width));
    }
    if (scenario.model.position == PositionKind::rotary) {
      builder.kernels(Site::rope, rotary_elements(scenario, shard));
    }
    builder.kernels(Site::qkv, elements(shard.tokens, shard.qkv_width()));
    if (shard.latent > 0) return latent();
    enter(linears.qkv, gather_input, true);
  }
  void latent() const {
    const double width = elements(shard.tokens, shard.latent);
    builder.data_gradient(linears.keys);
    builder.weight_gradient(linears.keys);
    builder.data_gradient(linears.queries);
    const auto weight = [&] { builder.weight_gradient(linears.queries); };
    builder.tensor_collective("reduce-scatter of latents' gradient", CollectiveKind::reduce_scatter,
                              width * shard.element, scenario.training.stack.overlap.tensor,
                              Side::before, weight);
    builder.kernels(Site::norm, width);
    builder.data_gradient(linears.latent);
    builder.weight_gradient(linears.latent);
  }

  void attention_to_encoder() const {
    const CrossLinears cross = cross_linears(scenario, shard);
    leave(cross.projection, true);
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    append_cross_attention_backward(builder, scenario, shard);
    builder.data_gradient(cross.keys);
    const auto weight = [&] { builder.weight_gradient(cross.keys); };
    const bool sp = shard.sequence_parallel;
    builder.tensor_collective(sp ? "reduce-scatter of gradient of encoder's output"
                                 : "all-reduce of gradient of encoder's output",
                              sp ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                              source_elements(shard) * shard.element,
                              scenario.training.stack.overlap.tensor, Side::before, weight);
    // All layers add to one gradient of the encoder's output.
    builder.kernels(Site::residual, elements(cross.keys.tokens, shard.hidden) /
                                        (sp ? static_cast<double>(shard.tensor) : 1.0));
    enter(cross.queries, true, true);
  }

  void experts() const {
    append_experts_backward(builder, scenario, shard);
    const std::int64_t width = scenario.model.moe.shared_ffn_hidden;
    if (width == 0) return;
    const MlpLinears shared = mlp_linears(scenario, shard, width);
    leave(shared.down, true);
    builder.kernels(Site::activation, elements(shard.tokens, shared.down.in));
    enter(shared.up, true, true);
  }

  void norm() const { builder.kernels(Site::norm, local_hidden_elements(shard)); }
  void more_norms() const {
    for (std::int64_t i = 0; i < extra_norms(scenario.model); ++i)
      norm();
  }
  void residual() const { builder.kernels(Site::residual, local_hidden_elements(shard)); }
};

void append_recompute(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                      LayerKind kind, Recompute recompute) {
  const Phase phase = builder.phase();
  builder.set_phase(Phase::recompute);
  switch (recompute) {
  case Recompute::none:
    break;
  case Recompute::selective:
    append_attention_core(builder, scenario, shard);
    if (kind == LayerKind::cross) append_cross_attention(builder, scenario, shard);
    break;
  case Recompute::operators:
    append_operators_again(builder, scenario, shard, kind);
    break;
  case Recompute::full:
    append_layer_forward(builder, scenario, shard, kind);
    break;
  }
  builder.set_phase(phase);
}

} // namespace

Block layer_backward(const Scenario& scenario, const Shard& base, BackwardPart part, LayerKind kind,
                     Recompute recompute) {
  const Shard shard = shard_for(scenario, base, kind);
  BlockBuilder builder(scenario, shard, Phase::backward);
  builder.set_part(part);
  builder.set_weights(layer_weights(scenario));
  // Those of the layer below come in while this one runs.
  append_from_tier(builder, scenario.plan.offload.activations,
                   offloaded_activations(scenario, shard, kind, recompute), 1.0);
  append_recompute(builder, scenario, shard, kind, recompute);
  const BackwardPass pass{builder, scenario, shard, layer_linears(scenario, shard)};
  pass.residual();
  pass.more_norms();
  if (scenario.model.parallel_block && !has_experts(kind)) {
    pass.residual();
    pass.mlp(true, false);
    pass.attention(false, false);
  } else {
    has_experts(kind) ? pass.experts() : pass.mlp(true, true);
    pass.norm();
    pass.residual();
    if (kind == LayerKind::cross) {
      pass.attention_to_encoder();
      pass.norm();
      pass.residual();
    }
    pass.attention(true, true);
  }
  pass.norm();
  const double parameters = trained_weights(builder, scenario, kind);
  builder.cast_weights(parameters, matrices_per_layer);
  builder.accumulate_gradients(parameters, matrices_per_layer);
  if (scenario.plan.offload.activations != Tier::chip) builder.join(Lane::host);
  return builder.finish(layer_name(kind) + " backward");
}

} // namespace clustersim
