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
void append_norm_gradients(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  if (!shard.sequence_parallel) return;
  const double norms =
      local_parameters(scenario).layer_norms * static_cast<double>(scenario.model.layers);
  builder.collective(
      "all-reduce of norm gradients",
      tensor_parallel(scenario, CollectiveKind::all_reduce, norms * gradient_element(scenario)),
      Lane::tensor, 0.0);
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
  if (scenario.plan.zero >= 1) {
    builder.collective("all-reduce of gradient norm",
                       data_parallel(scenario, CollectiveKind::all_reduce, scalar, 1), Lane::data,
                       0.0);
  }
}

} // namespace

Block optimizer(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::optimizer);
  const double parameters = local_parameters(scenario).total;
  const double updated =
      scenario.plan.zero >= 1 ? parameters / static_cast<double>(scenario.plan.data) : parameters;
  append_norm_gradients(builder, scenario, shard);
  append_gradient_norm(builder, scenario, parameters);
  builder.kernel("optimizer update", {.kernel_class = KernelClass::optimizer,
                                      .traffic = updated * update_traffic(scenario),
                                      .vector_flops = Flops{0},
                                      .kernels = scenario.training.stack.optimizer.kernels});
  if (scenario.plan.zero >= 1 && !gathers_in_forward(scenario)) {
    const Block gather = parameter_gather(scenario, shard, "gather", parameters, 0.0);
    for (const Op& op : gather.ops) {
      builder.collective(op.name, std::get<Collective>(op.work), op.lane, op.hidden);
    }
  }
  builder.kernel("zero gradients", {.kernel_class = KernelClass::elementwise,
                                    .traffic = parameters * gradient_element(scenario),
                                    .vector_flops = Flops{0},
                                    .kernels = 1});
  return builder.finish("optimizer");
}

} // namespace clustersim
