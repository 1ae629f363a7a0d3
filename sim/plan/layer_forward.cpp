#include "base/bug.hpp"
#include "plan/experts.hpp"
#include "plan/key_value_cache.hpp"
#include "plan/layer.hpp"
#include "plan/offload.hpp"
#include "plan/trained.hpp"

#include <algorithm>

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
      if (!shard.decode) builder.forward(linears.keys); // a cache of latents is never opened up
    };
    if (shard.serves) return open(); // servers repeat the small products on every rank
    builder.tensor_collective("all-gather of latents", CollectiveKind::all_gather,
                              width * shard.element, hidden_share(), Side::before, open);
  }
  void rotary() const {
    if (scenario.model.position != PositionKind::rotary) return;
    builder.kernels(Site::rope, rotary_elements(scenario, shard));
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
    rotary();
    query_key_norms();
    if (shard.serves) append_cache_write(builder, scenario, shard);
    if (shard.decode) {
      append_decode_attention(builder, scenario, shard);
    } else {
      append_attention_core(builder, scenario, shard);
    }
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    leave(linears.projection, ends);
  }

  /// Every layer projects the encoder's output anew.
  void attention_to_encoder() const {
    const CrossLinears cross = cross_linears(scenario, shard);
    enter(cross.queries, {});
    const auto keys = [&] { builder.forward(cross.keys); };
    if (shard.sequence_parallel) {
      builder.tensor_collective("all-gather of encoder's output", CollectiveKind::all_gather,
                                source_elements(shard) * shard.element, hidden_share(),
                                Side::before, keys);
    } else {
      keys();
    }
    append_cross_attention(builder, scenario, shard);
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    leave(cross.projection, {});
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
      leave(shared.down, {.entry = true, .exit = !experts_are_near(scenario)}); // summed with them
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
      keys.parts = {{Matrix::key, shard.key_width}};
      enter(keys, {});
    }
    builder.kernels(Site::qkv, elements(shard.tokens, shard.qkv_width()));
    rotary();
    query_key_norms();
    builder.kernels(Site::context, elements(shard.tokens, shard.core_width));
    builder.forward(linears.projection);
  }
  /// Backward starts at the down projection's input: what follows it is not run.
  void mlp_again(Ends ends) const {
    Linear up = linears.up;
    up.out -= shard.ffn; // the gate's output is kept, or that of the one product
    up.parts = {{Matrix::up, up.out}};
    if (up.out > 0) enter(up, ends);
    builder.kernels(Site::activation, elements(shard.tokens, shard.ffn));
  }

  void norm() const { builder.kernels(Site::norm, local_hidden_elements(shard)); }
  /// Norms beyond the usual: behind attention and MLP (Gemma 2), or one for each half of a parallel
  /// block.
  void more_norms() const {
    for (std::int64_t i = 0; i < extra_norms(scenario.model); ++i)
      norm();
  }
  void residual() const { builder.kernels(Site::residual, local_hidden_elements(shard)); }
};

} // namespace

std::int64_t extra_norms(const Transformer& model) {
  return std::max<std::int64_t>(model.layer_norms - (model.parallel_block ? 1 : 2), 0);
}

void append_layer_forward(BlockBuilder& builder, const Scenario& scenario, const Shard& base,
                          LayerKind kind) {
  const Shard shard = shard_for(scenario, base, kind);
  const ForwardPass pass{builder, scenario, shard, layer_linears(scenario, shard)};
  builder.cast_weights(trained_weights(builder, scenario, kind), matrices_per_layer);
  pass.norm();
  if (scenario.model.parallel_block && !has_experts(kind)) {
    pass.attention({.entry = true, .exit = false});
    pass.mlp({.entry = false, .exit = true});
    pass.residual();
  } else {
    pass.attention({});
    pass.residual();
    pass.norm();
    if (kind == LayerKind::cross) {
      pass.attention_to_encoder();
      pass.residual();
      pass.norm();
    }
    has_experts(kind) ? pass.experts() : pass.mlp({});
  }
  pass.more_norms();
  pass.residual();
}

void append_operators_again(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                            LayerKind kind) {
  const ForwardPass pass{builder, scenario, shard, layer_linears(scenario, shard)};
  builder.cast_weights(trained_weights(builder, scenario, kind), matrices_per_layer);
  pass.norm();
  pass.more_norms();
  pass.attention_again();
  if (kind == LayerKind::cross) append_cross_attention(builder, scenario, shard);
  if (scenario.model.parallel_block && !has_experts(kind)) {
    return pass.mlp_again({.entry = false, .exit = false});
  }
  pass.residual();
  pass.norm();
  if (has_experts(kind)) return pass.experts();
  pass.mlp_again({});
}

double rotary_elements(const Scenario& scenario, const Shard& shard) {
  const std::int64_t turned =
      shard.latent > 0 ? shard.heads * scenario.model.mla.rope_dim : shard.query_width;
  return elements(shard.tokens, turned + shard.key_width);
}

std::string layer_name(LayerKind kind) {
  switch (kind) {
  case LayerKind::dense:
    return "layer";
  case LayerKind::experts:
    return "expert layer";
  case LayerKind::window_dense:
    return "window layer";
  case LayerKind::window_experts:
    return "expert window layer";
  case LayerKind::cross:
    return "decoder layer";
  }
  throw Bug("unknown kind of layer");
}

double trained_weights(const BlockBuilder& builder, const Scenario& scenario, LayerKind kind) {
  if (builder.weights() == WeightUse::frozen) return 0.0;
  return trained_in_layer(scenario, kind).parameters.total();
}

WeightUse layer_weights(const Scenario& scenario) {
  return scenario.training.tuning.adapts() ? WeightUse::adapted : WeightUse::trained;
}

Block layer_forward(const Scenario& scenario, const Shard& shard, LayerKind kind, WeightUse use) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  builder.set_weights(use);
  append_layer_forward(builder, scenario, shard, kind);
  if (use != WeightUse::frozen && scenario.plan.offload.activations != Tier::chip) {
    builder.join(Lane::host); // the layer before has left
    append_to_tier(builder, scenario.plan.offload.activations,
                   offloaded_activations(scenario, shard, kind, scenario.plan.recompute), 1.0);
  }
  return builder.finish((use == WeightUse::frozen ? "frozen " : "") + layer_name(kind) +
                        " forward");
}

} // namespace clustersim
