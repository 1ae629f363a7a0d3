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

  [[nodiscard]] double local(std::int64_t width) const {
    return static_cast<double>(shard.local_tokens) * static_cast<double>(width);
  }
  [[nodiscard]] double gathered(std::int64_t width) const {
    return static_cast<double>(shard.tokens) * static_cast<double>(width);
  }
  [[nodiscard]] Bytes payload() const { return gathered(shard.hidden) * shard.element; }
  [[nodiscard]] double hidden_share() const { return scenario.training.stack.overlap.tensor; }

  void enter(const Linear& linear, Ends ends) const {
    const auto product = [&] { builder.forward(linear); };
    if (!ends.entry || !shard.sequence_parallel) return product();
    builder.tensor_collective("all-gather before " + linear.name, CollectiveKind::all_gather,
                              payload(), hidden_share(), Side::before, product);
  }
  void leave(const Linear& linear, Ends ends) const {
    const auto product = [&] { builder.forward(linear); };
    if (!ends.exit) return product();
    const bool sp = shard.sequence_parallel;
    builder.tensor_collective((sp ? "reduce-scatter after " : "all-reduce after ") + linear.name,
                              sp ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                              payload(), hidden_share(), Side::after, product);
  }

  void attention(Ends ends) const {
    enter(linears.qkv, ends);
    builder.kernels(Site::qkv, gathered(shard.qkv_width()));
    if (scenario.model.position == PositionKind::rotary) {
      builder.kernels(Site::rope, gathered(shard.query_width + shard.key_width));
    }
    append_attention_core(builder, scenario, shard);
    builder.kernels(Site::context, gathered(shard.query_width));
    leave(linears.projection, ends);
  }

  void mlp(Ends ends) const {
    enter(linears.up, ends);
    builder.kernels(Site::activation, gathered(shard.ffn));
    leave(linears.down, ends);
  }

  void norm() const { builder.kernels(Site::norm, local(shard.hidden)); }
  void residual() const { builder.kernels(Site::residual, local(shard.hidden)); }
};

} // namespace

void append_layer_forward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const ForwardPass pass{builder, scenario, shard, layer_linears(scenario, shard)};
  builder.kernels(Site::cast, local_parameters(scenario).per_layer, matrices_per_layer);
  pass.norm();
  if (scenario.model.parallel_block) {
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

Block layer_forward(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  append_layer_forward(builder, scenario, shard);
  return builder.finish("layer forward");
}

} // namespace clustersim
