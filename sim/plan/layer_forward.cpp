#include "plan/experts.hpp"
#include "plan/layer.hpp"

namespace clustersim {

namespace {

/// A layer half (attention or MLP) joins the tensor-parallel group at its entry and its exit; the
/// two halves of a parallel block share one entry and one exit.
struct Ends {
  bool entry = true, exit = true;
};

struct ForwardPass {
  BlockBuilder& builder;
  const Scenario& scenario;
  const Shard& shard;
  LayerLinears linears;

  [[nodiscard]] double hidden_share() const { return scenario.training.stack.overlap.tensor; }

  void enter(const Linear& linear, Ends ends) const {
    const auto product = [&] { builder.forward(linear); };
    if (!ends.entry || !shard.sequence_parallel) return product();
    builder.tensor_collective("all-gather before " + linear.name, CollectiveKind::all_gather,
                              hidden_payload(shard), hidden_share(), Side::before, product);
  }
  void leave(const Linear& linear, Ends ends) const {
    const auto product = [&] { builder.forward(linear); };
    if (!ends.exit) return product();
    const bool sp = shard.sequence_parallel;
    builder.tensor_collective((sp ? "reduce-scatter after " : "all-reduce after ") + linear.name,
                              sp ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                              hidden_payload(shard), hidden_share(), Side::after, product);
  }

  /// The latents are gathered instead of the hidden states, normed, and opened up to the heads.
  void latent() const {
    const double width = elements(shard.tokens, shard.latent);
    builder.forward(linears.latent);
    builder.kernels(Site::norm, width);
    const auto open = [&] {
      builder.forward(linears.queries);
      builder.forward(linears.keys);
    };
    builder.tensor_collective("all-gather of latents", CollectiveKind::all_gather,
                              width * shard.element, hidden_share(), Side::before, open);
  }
  void query_key_norms() const {
    if (scenario.model.qk_norm == QueryKeyNorm::none) return;
    builder.kernels(Site::norm, elements(shard.tokens, shard.query_width + shard.key_width));
  }

  void attention(Ends ends) const {
    if (shard.latent > 0) {
      latent();
    } else {
      enter(linears.qkv, ends);
    }
    builder.kernels(Site::qkv, elements(shard.tokens, shard.qkv_width()));
    if (scenario.model.position == PositionKind::rotary) {
      builder.kernels(Site::rope, elements(shard.tokens, shard.query_width + shard.key_width));
    }
    query_key_norms();
    append_attention_core(builder, scenario, shard);
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    leave(linears.projection, ends);
  }

  void mlp(Ends ends) const {
    enter(linears.up, ends);
    builder.kernels(Site::activation, elements(shard.tokens, shard.ffn));
    leave(linears.down, ends);
  }

  /// Routed experts work on each rank's own tokens; only the shared ones are a tensor-parallel MLP.
  void experts() const {
    const std::int64_t width = scenario.model.moe.shared_ffn_hidden;
    if (width > 0) {
      const MlpLinears shared = mlp_linears(scenario, shard, width);
      enter(shared.up, {});
      builder.kernels(Site::activation, elements(shard.tokens, shared.down.in));
      leave(shared.down, {});
    }
    append_experts_forward(builder, scenario, shard);
  }

  /// Of q, k, v, projection, gate, up and down the first, third ... are kept.
  void attention_again() const {
    if (shard.latent > 0) {
      latent();
    } else {
      Linear keys = linears.qkv;
      keys.out = shard.key_width;
      enter(keys, {});
    }
    builder.kernels(Site::qkv, elements(shard.tokens, shard.qkv_width()));
    if (scenario.model.position == PositionKind::rotary) {
      builder.kernels(Site::rope, elements(shard.tokens, shard.query_width + shard.key_width));
    }
    query_key_norms();
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    builder.forward(linears.projection);
  }
  /// Backward starts at the down projection's input: what follows it is not run.
  void mlp_again(Ends ends) const {
    Linear up = linears.up;
    up.out -= shard.ffn; // the gate's output is kept, or that of the one product
    if (up.out > 0) enter(up, ends);
    builder.kernels(Site::activation, elements(shard.tokens, shard.ffn));
  }

  void norm() const { builder.kernels(Site::norm, local_hidden_elements(shard)); }
  void residual() const { builder.kernels(Site::residual, local_hidden_elements(shard)); }
};

} // namespace

void append_layer_forward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                          LayerKind kind) {
  const ForwardPass pass{builder, scenario, shard, layer_linears(scenario, shard)};
  builder.cast_weights(local_parameters(scenario).of(kind).total(), matrices_per_layer);
  pass.norm();
  if (kind == LayerKind::experts) {
    pass.attention({});
    pass.residual();
    pass.norm();
    pass.experts();
  } else if (scenario.model.parallel_block) {
    pass.attention({.entry = true, .exit = false});
    pass.mlp({.entry = false, .exit = true});
    pass.residual();
  } else {
    pass.attention({});
    pass.residual();
    pass.norm();
    pass.mlp({});
  }
  pass.residual();
}

void append_operators_again(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                            LayerKind kind) {
  const ForwardPass pass{builder, scenario, shard, layer_linears(scenario, shard)};
  builder.cast_weights(local_parameters(scenario).of(kind).total(), matrices_per_layer);
  pass.norm();
  pass.attention_again();
  if (kind == LayerKind::experts) {
    pass.residual();
    pass.norm();
    pass.experts();
  } else if (scenario.model.parallel_block) {
    pass.mlp_again({.entry = false, .exit = false});
  } else {
    pass.residual();
    pass.norm();
    pass.mlp_again({});
  }
}

Block layer_forward(const Scenario& scenario, const Shard& shard, LayerKind kind) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  append_layer_forward(builder, scenario, shard, kind);
  return builder.finish(kind == LayerKind::experts ? "expert layer forward" : "layer forward");
}

} // namespace clustersim
