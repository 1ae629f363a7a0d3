#include "plan/reduction.hpp"

namespace clustersim {

namespace {

/// Adam keeps two moments, SGD with momentum one: one FP32 value less to read and write.
Bytes update_traffic(const Scenario& scenario) {
  const Bytes adam{scenario.training.stack.optimizer.bytes_per_parameter};
  const Bytes moment = 2.0 * bytes_per_element(Precision::fp32);
  switch (scenario.training.optimizer) {
  case OptimizerKind::adamw:
    return adam;
  case OptimizerKind::sgd:
    return adam > moment ? adam - moment : Bytes{0};
  }
  return adam;
}

/// Sequence-parallel ranks see different tokens, so the gradients of replicated norms are summed.
void append_norm_gradients(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                           double layers) {
  if (!shard.sequence_parallel) return;
  const double norms = local_parameters(scenario).layer_norms * layers;
  builder.collective(
      "all-reduce of norm gradients",
      tensor_parallel(scenario, CollectiveKind::all_reduce, norms * gradient_element(scenario)),
      Lane::tensor, 0.0);
}

/// A table that first and last stage both hold: their gradients are added up. The pair stands as
/// neighbours here; only the stride on the cluster differs.
void append_shared_embedding(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                             const Stage& stage) {
  if (!shares_embedding(scenario, stage)) return;
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

} // namespace

Block optimizer(const Scenario& scenario, const Shard& shard, const Stage& stage) {
  BlockBuilder builder(scenario, shard, Phase::optimizer);
  const StageParameters held = parameters_of(scenario, stage);
  const double updated = sharded(scenario, held.all(), &ShardedStates::optimizer);
  const double gradients = sharded(scenario, held.all(), &ShardedStates::gradients);
  append_norm_gradients(builder, scenario, shard, held.layers);
  append_shared_embedding(builder, scenario, shard, stage);
  append_gradient_norm(builder, scenario, gradients);
  builder.kernel("optimizer update", {.kernel_class = KernelClass::optimizer,
                                      .traffic = updated * update_traffic(scenario),
                                      .vector_flops = Flops{0},
                                      .kernels = scenario.training.stack.optimizer.kernels});
  const bool gathers = scenario.plan.zero == 1 || scenario.plan.zero == 2;
  if (gathers && !gathers_in_forward(scenario)) {
    const Block gather = parameter_gather(scenario, shard, "gather", held.all(), 0.0);
    for (const Op& op : gather.ops) {
      builder.collective(op.name, std::get<Collective>(op.work), op.lane, op.hidden);
    }
  }
  builder.kernel("zero gradients", {.kernel_class = KernelClass::elementwise,
                                    .traffic = gradients * gradient_element(scenario),
                                    .vector_flops = Flops{0},
                                    .kernels = 1});
  return builder.finish("optimizer");
}

} // namespace clustersim
