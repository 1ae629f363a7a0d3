#include "plan/optimizer.hpp"

#include "plan/offload.hpp"
#include "plan/reduction.hpp"
#include "plan/trained.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

/// What the update of one kind of parameters reads, writes and computes.
struct Update {
  Bytes traffic;
  Flops flops;
  int kernels = 0;
};

/// Gradient, weight and states as often as the rule moves them; a 16-bit copy of a weight that has
/// a master is written once.
Bytes per_parameter(const Scenario& scenario, const UpdateWork& work, ParameterGroup group) {
  const Bytes weight = weight_element(scenario);
  const Bytes master = bytes_per_element(scenario.training.master_dtype);
  const Bytes copy = weight < master ? weight : Bytes{0};
  return work.gradient_moves * gradient_element(scenario) +
         work.weight_moves * std::max(weight, master) +
         work.state_moves * state_bytes(scenario.training.optimizer, group) + copy +
         Bytes{work.extra_bytes + scenario.training.stack.optimizer.extra_bytes_per_parameter};
}

/// A rule that is not fused over tensors launches its kernels for each of a rank's share of them.
int launches(const Scenario& scenario, const UpdateWork& work, double tensors) {
  constexpr double most = 1e6;
  if (work.kernels_per_tensor == 0) return scenario.training.stack.optimizer.kernels;
  const double each = std::ceil(tensors / sharded_states(scenario).optimizer);
  return static_cast<int>(std::clamp(each * work.kernels_per_tensor, 1.0, most));
}

Update update_of(const Scenario& scenario, const UpdateWork& work, ParameterGroup group,
                 double parameters, double tensors) {
  return {parameters * per_parameter(scenario, work, group), Flops{work.flops * parameters},
          launches(scenario, work, tensors)};
}

void append_update(BlockBuilder& builder, const char* name, const Update& update) {
  builder.kernel(name, {.kernel_class = KernelClass::optimizer,
                        .traffic = update.traffic,
                        .vector_flops = update.flops,
                        .kernels = update.kernels});
}

/// One rule for all parameters is one pass over all of them.
void append_updates(BlockBuilder& builder, const Scenario& scenario, const Trained& trained) {
  const Optimizer& rule = scenario.training.optimizer;
  const double all = sharded(scenario, trained.parameters, &ShardedStates::optimizer);
  const double matrices = sharded(scenario, trained.matrices, &ShardedStates::optimizer);
  const bool one_rule =
      rule.update == rule.matrices &&
      state_bytes(rule, ParameterGroup::matrices) == state_bytes(rule, ParameterGroup::rest);
  const double values = sharded(scenario, trained.factors, &ShardedStates::optimizer);
  const Bytes factored = rule.update.state_moves * values * factored_bytes(rule);
  if (updates_on_host(scenario)) {
    const Bytes norm{scenario.training.stack.optimizer.norm_bytes_per_parameter * all};
    const Bytes rest =
        (all - matrices) * per_parameter(scenario, rule.update, ParameterGroup::rest);
    const Bytes first = matrices * per_parameter(scenario, rule.matrices, ParameterGroup::matrices);
    return append_host_update(builder, scenario, trained, first + rest + factored + norm);
  }
  if (one_rule) {
    Update update = update_of(scenario, rule.update, ParameterGroup::rest, all, trained.tensors);
    update.traffic += factored;
    return append_update(builder, "optimizer update", update);
  }
  append_update(
      builder, "optimizer update of matrices",
      update_of(scenario, rule.matrices, ParameterGroup::matrices, matrices, trained.tensors));
  append_update(builder, "optimizer update",
                update_of(scenario, rule.update, ParameterGroup::rest,
                          std::max(all - matrices, 0.0), trained.tensors));
}

/// Sequence-parallel ranks see different tokens, so the gradients of replicated norms are summed.
void append_norm_gradients(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                           double layers) {
  if (!shard.sequence_parallel || scenario.training.tuning.adapts()) return;
  const double norms = local_parameters(scenario).layer_norms * layers;
  builder.collective(
      "all-reduce of norm gradients",
      tensor_parallel(scenario, CollectiveKind::all_reduce, norms * gradient_element(scenario)),
      Lane::tensor, 0.0);
}

/// A factor that all ranks hold alike has its gradient from what each of them sees.
void append_adapter_gradients(BlockBuilder& builder, const Scenario& scenario,
                              const Trained& trained) {
  builder.collective("all-reduce of adapters' gradients",
                     tensor_parallel(scenario, CollectiveKind::all_reduce,
                                     trained.replicated * gradient_element(scenario)),
                     Lane::tensor, 0.0);
}

/// A table that first and last stage both hold: their gradients are added up. The pair stands as
/// neighbours here; only the stride on the cluster differs.
void append_shared_embedding(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                             const Stage& stage) {
  if (!shares_embedding(scenario, stage) || !trains_head(scenario)) return;
  Collective pair =
      to_next_stage(scenario, elements(shard.vocabulary, table_width(scenario.model)) *
                                  gradient_element(scenario));
  pair.kind = CollectiveKind::all_reduce;
  pair.family.size = 2;
  // With other axes outside of the pipeline all neighbours stand for the pairs of all pipelines.
  const bool outermost = scenario.plan.placement.back() == Axis::pipeline;
  pair.family.groups = outermost ? pair.family.stride : 0;
  builder.collective("all-reduce of shared embedding's gradient", pair, Lane::pipeline, 0.0);
}

/// The clipping norm: a pass over the gradients and one scalar per axis that splits them.
void append_gradient_norm(BlockBuilder& builder, const Scenario& scenario, double parameters) {
  const double per_parameter = scenario.training.stack.optimizer.norm_bytes_per_parameter;
  if (per_parameter <= 0.0) return;
  builder.kernel("gradient norm and clipping", {.kernel_class = KernelClass::optimizer,
                                                .traffic = Bytes{per_parameter * parameters},
                                                .vector_flops = Flops{0},
                                                .kernels = 1});
  const Bytes scalar = bytes_per_element(Precision::fp32);
  builder.collective("all-reduce of gradient norm",
                     tensor_parallel(scenario, CollectiveKind::all_reduce, scalar), Lane::tensor,
                     0.0);
  if (scenario.plan.pipeline > 1) {
    Collective stages = to_next_stage(scenario, scalar);
    stages.kind = CollectiveKind::all_reduce;
    builder.collective("all-reduce of gradient norm", stages, Lane::pipeline, 0.0);
  }
  if (scenario.plan.zero >= 1) {
    builder.collective("all-reduce of gradient norm",
                       data_parallel(scenario, CollectiveKind::all_reduce, scalar, 1), Lane::data,
                       0.0);
  }
}

void append_gathers(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                    const Stage& stage) {
  const bool gathers = scenario.plan.zero == 1 || scenario.plan.zero == 2;
  if (!gathers || gathers_in_forward(scenario)) return;
  Held bytes;
  for (const Chunk& chunk : stage)
    bytes = bytes + chunk_to_gather(scenario, chunk);
  const Block gather = parameter_gather(scenario, shard, "gather", bytes, 0.0);
  for (const Op& op : gather.ops) {
    builder.collective(op.name, std::get<Collective>(op.work), op.lane, op.hidden);
  }
}

} // namespace

Block optimizer(const Scenario& scenario, const Shard& shard, const Stage& stage) {
  BlockBuilder builder(scenario, shard, Phase::optimizer);
  const Trained trained = trained_in(scenario, stage);
  double layers = 0.0;
  for (const Chunk& chunk : stage)
    layers += static_cast<double>(chunk.layers);
  const double gradients = sharded(scenario, trained.parameters, &ShardedStates::gradients);
  append_norm_gradients(builder, scenario, shard, layers);
  append_adapter_gradients(builder, scenario, trained);
  append_shared_embedding(builder, scenario, shard, stage);
  // The host's cores read gradients that they keep.
  append_gradient_norm(builder, scenario, keeps_gradients_on_host(scenario) ? 0.0 : gradients);
  append_updates(builder, scenario, trained);
  if (brings_parameters(scenario) && !updates_on_host(scenario)) {
    const double updated = sharded(scenario, trained.parameters, &ShardedStates::optimizer);
    append_to_tier(builder, scenario.plan.offload.parameters, updated * weight_element(scenario),
                   0.0);
  }
  append_gathers(builder, scenario, shard, stage);
  builder.kernel("zero gradients", {.kernel_class = KernelClass::elementwise,
                                    .traffic = keeps_gradients_on_host(scenario)
                                                   ? Bytes{0}
                                                   : gradients * gradient_element(scenario),
                                    .vector_flops = Flops{0},
                                    .kernels = 1});
  return builder.finish("optimizer");
}

} // namespace clustersim
