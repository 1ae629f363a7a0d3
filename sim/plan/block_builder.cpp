#include "plan/block_builder.hpp"

#include "base/bug.hpp"

#include <utility>

namespace clustersim {

namespace {

Precision weight_gradient_output(const Scenario& scenario, const Shard& shard) {
  return scenario.training.stack.gradient.accumulate_in_gemm ? scenario.training.gradient_dtype
                                                             : shard.activation;
}

/// Operands of both gradients' products: wider than forward's where the recipe says so.
Precision gradient_operands(const Scenario& scenario, Precision forward) {
  const std::optional<Precision>& own = scenario.training.gradient_precision;
  return own && is_quantised(forward) ? *own : forward;
}

} // namespace

void BlockBuilder::append(std::string name, Work work, Flops model_flops) {
  if (!writes(of_weights_)) return;
  Op op;
  op.name = std::move(name);
  op.phase = phase_;
  op.work = work;
  op.model_flops = phase_ == Phase::recompute ? Flops{0} : model_flops;
  ops_.push_back(std::move(op));
}

void BlockBuilder::gemm(std::string name, const GemmShape& shape, Flops model_flops) {
  append(std::move(name), shape, model_flops);
}

void BlockBuilder::attention(std::string name, const AttentionShape& shape, Flops model_flops) {
  append(std::move(name), shape, model_flops);
}

void BlockBuilder::open_weights(double weights) {
  const FineTuning& tuning = scenario_->training.tuning;
  if (use_ == WeightUse::trained || !tuning.base) return;
  kernel("opening of quantised weights",
         {.kernel_class = KernelClass::cast,
          .traffic = weights * (Bytes{base_bytes(tuning)} + shard_->element),
          .vector_flops = Flops{0},
          .kernels = 1});
}

void BlockBuilder::forward(const Linear& linear) {
  if (is_quantised(linear.precision)) kernels(Site::quantise, linear.input_elements);
  if (!linear.parts.empty()) open_weights(elements(linear.in, linear.out));
  gemm(linear.name,
       {.m = linear.tokens,
        .n = linear.out,
        .k = linear.in,
        .precision = linear.precision,
        .output = shard_->activation,
        .weight = linear.stored_narrow ? shard_->weight : Bytes{0}},
       linear.model_flops);
  adapters_forward(linear);
}

void BlockBuilder::data_gradient(const Linear& linear) {
  if (is_quantised(gradient_operands(*scenario_, linear.precision))) {
    kernels(Site::quantise, linear.output_elements);
  }
  if (!linear.parts.empty()) open_weights(elements(linear.in, linear.out));
  gemm(linear.name + ", data gradient",
       {.m = linear.tokens,
        .n = linear.in,
        .k = linear.out,
        .precision = gradient_operands(*scenario_, linear.precision),
        .output = shard_->activation,
        .role = GemmRole::data_gradient},
       linear.model_flops);
  adapters_data(linear);
}

void BlockBuilder::weight_product(std::string name, GemmShape shape, Flops model_flops) {
  if (use_ != WeightUse::trained) return;
  trained_product(std::move(name), shape, model_flops);
}

void BlockBuilder::trained_product(std::string name, GemmShape shape, Flops model_flops) {
  shape.output = weight_gradient_output(*scenario_, *shard_);
  shape.accumulate = scenario_->training.stack.gradient.accumulate_in_gemm;
  of_weights_ = true;
  gemm(std::move(name), shape, model_flops);
  of_weights_ = false;
}

void BlockBuilder::weight_gradient(const Linear& linear) {
  weight_product(linear.name + ", weight gradient",
                 {.m = linear.out,
                  .n = linear.in,
                  .k = linear.tokens,
                  .precision = gradient_operands(*scenario_, linear.precision),
                  .role = GemmRole::weight_gradient},
                 linear.model_flops);
  adapters_weight(linear);
}

void BlockBuilder::kernel(std::string name, const MemoryKernel& kernel) {
  if (kernel.traffic <= Bytes{0}) return;
  append(std::move(name), kernel, Flops{0});
}

void BlockBuilder::kernels(Site site, double elements, int launches) {
  const bool backward = phase_ == Phase::backward;
  for (const FusedKernel& fused : scenario_->training.stack.recipe.kernels) {
    const double moved = backward ? fused.backward : fused.forward;
    if (fused.site != site || moved <= 0.0 || !runs(fused.when, *scenario_)) continue;
    const Bytes per_element = moved * shard_->element + Bytes{fused.extra_bytes};
    kernel(backward ? fused.name + ", backward" : fused.name, {.kernel_class = fused.kernel_class,
                                                               .traffic = elements * per_element,
                                                               .vector_flops = Flops{0},
                                                               .kernels = launches});
  }
}

void BlockBuilder::accumulate_gradients(double parameters, int launches) {
  const bool in_gemm = scenario_->training.stack.gradient.accumulate_in_gemm;
  const bool same_type = weight_element(*scenario_) == gradient_element(*scenario_);
  if (in_gemm || (same_type && scenario_->micro_batches() == 1)) return;
  // Recipes count a read in the type of the activations and an FP32 sum read and written.
  const Bytes fp32_sum = 2.0 * bytes_per_element(Precision::fp32);
  const double moved =
      (shard_->element + 2.0 * gradient_element(*scenario_)) / (shard_->element + fp32_sum);
  of_weights_ = true;
  // ZeRO-2 and 3 reduce each micro-batch and add what is left: shards.
  kernels(Site::gradient, moved * parameters / sharded_states(*scenario_).gradients, launches);
  of_weights_ = false;
}

void BlockBuilder::cast_weights(double parameters, int launches) {
  if (shard_->element < bytes_per_element(Precision::fp32)) {
    // ZeRO-3 casts its shards and gathers the copies; gradients are whole until they are reduced.
    const bool whole = phase_ == Phase::backward;
    kernels(Site::cast, whole ? parameters : parameters / sharded_states(*scenario_).weights,
            launches);
  }
}

void BlockBuilder::collective(std::string name, const Collective& collective, Lane lane,
                              double hidden) {
  if (collective.family.size <= 1 || collective.payload <= Bytes{0} || !writes(false)) return;
  append(std::move(name), collective, Flops{0});
  ops_.back().lane = lane;
  ops_.back().hidden = hidden;
}

void BlockBuilder::join(Lane lane) {
  if (!writes(false)) return;
  append("wait", Join{lane}, Flops{0});
  ops_.back().lane = lane;
}

void BlockBuilder::host_work(std::string name, HostWork work, double hidden) {
  if (work.bytes <= Bytes{0} || !writes(false)) return;
  append(std::move(name), work, Flops{0});
  ops_.back().lane = Lane::host;
  ops_.back().hidden = hidden;
}

void BlockBuilder::host_update(std::string name, HostWork work) {
  if (work.bytes > Bytes{0} && writes(false)) append(std::move(name), work, Flops{0});
}

void BlockBuilder::tensor_collective(const std::string& name, CollectiveKind kind, Bytes payload,
                                     double hidden, Side side, const std::function<void()>& gemm) {
  const Collective exchange = tensor_parallel(*scenario_, kind, payload);
  const bool pipelined = hidden > 0.0 && shard_->tensor > 1;
  if (pipelined || side == Side::before) collective(name, exchange, Lane::tensor, hidden);
  gemm();
  if (pipelined) {
    join(Lane::tensor);
  } else if (side == Side::after) {
    collective(name, exchange, Lane::tensor, hidden);
  }
}

Block BlockBuilder::finish(std::string name) {
  return Block{std::move(name), std::exchange(ops_, {})};
}

GroupFamily group_family(const Scenario& scenario, GroupKind kind, int step, int count) {
  const auto group = rank_group(scenario.plan, kind, step, count);
  if (!group) throw Bug("lowering got a placement that validation refuses");
  GroupFamily family{.size = group->size,
                     .stride = group->stride,
                     .block = group->block,
                     .block_stride = group->block_stride};
  const bool across = kind == GroupKind::replicas || kind == GroupKind::expert_replicas;
  if (!across && scenario.cluster.partitions.size() > 1) {
    family.first = scenario.first_chip();
    family.ranks = scenario.partition().chips();
  }
  return family;
}

namespace {

Collective of_axis(const Scenario& scenario, Axis axis, GroupKind group, CollectiveKind kind,
                   Bytes payload) {
  return {.kind = kind,
          .axis = axis,
          .family = group_family(scenario, group),
          .payload = payload,
          .calls = 1};
}

} // namespace

Collective tensor_parallel(const Scenario& scenario, CollectiveKind kind, Bytes payload) {
  return of_axis(scenario, Axis::tensor, GroupKind::tensor, kind, payload);
}

Collective expert_parallel(const Scenario& scenario, CollectiveKind kind, Bytes payload) {
  return of_axis(scenario, Axis::expert, GroupKind::expert, kind, payload);
}

Collective expert_tensor_parallel(const Scenario& scenario, CollectiveKind kind, Bytes payload) {
  return of_axis(scenario, Axis::tensor, GroupKind::expert_tensor, kind, payload);
}

Collective context_parallel(const Scenario& scenario, CollectiveKind kind, Bytes payload) {
  return of_axis(scenario, Axis::context, GroupKind::context, kind, payload);
}

Collective data_parallel(const Scenario& scenario, CollectiveKind kind, Bytes payload, int calls) {
  Collective out = of_axis(scenario, Axis::data, GroupKind::replicas, kind, payload);
  out.calls = calls;
  return out;
}

Collective to_next_stage(const Scenario& scenario, Bytes payload) {
  return of_axis(scenario, Axis::pipeline, GroupKind::pipeline, CollectiveKind::send_recv, payload);
}

} // namespace clustersim
