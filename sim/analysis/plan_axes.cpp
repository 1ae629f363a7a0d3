#include "analysis/plan_axes.hpp"

#include "spec/validate_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace clustersim {
namespace {

constexpr std::int64_t most_growth = 8; // of the micro-batch: beyond it GEMMs hardly gain

PlanAxis recompute_axis(const Scenario& base) {
  PlanAxis axis;
  for (const Recompute level :
       {Recompute::none, Recompute::selective, Recompute::operators, Recompute::full}) {
    if (level != base.plan.recompute) {
      axis.options.emplace_back([level](Scenario& to) { to.plan.recompute = level; });
    }
  }
  return axis;
}

PlanAxis micro_batch_axis(const Scenario& base) {
  PlanAxis axis;
  const auto add = [&](std::int64_t size) {
    axis.options.emplace_back([size](Scenario& to) { to.plan.micro_batch = size; });
  };
  for (std::int64_t size = base.plan.micro_batch; size % 2 == 0;) {
    size /= 2;
    add(size);
  }
  for (std::int64_t factor = 2; factor <= most_growth; factor *= 2) {
    add(base.plan.micro_batch * factor);
  }
  return axis;
}

void set_tensor(Scenario& to, int tensor) {
  const int both = to.plan.tensor * to.plan.data;
  if (to.model.moe.experts > 0 && to.plan.expert_tensor == to.plan.tensor) {
    to.plan.expert_tensor = tensor; // as it is derived
  }
  to.plan.tensor = tensor;
  to.plan.data = both / tensor;
  to.plan.sequence_parallel = tensor > 1 && to.training.sequence % tensor == 0;
  to.model.vocabulary = padded_vocabulary(to.model.vocabulary, tensor);
}

/// Trades tensor for data parallelism inside a node.
PlanAxis tensor_axis(const Scenario& base) {
  PlanAxis axis;
  const auto add = [&](int tensor) {
    axis.options.emplace_back([tensor](Scenario& to) { set_tensor(to, tensor); });
  };
  int in_node = base.cluster.partitions.front().node.chips;
  for (const Partition& partition : base.cluster.partitions)
    in_node = std::min(in_node, partition.node.chips);
  for (int tensor = base.plan.tensor * 2; tensor <= in_node; tensor *= 2) {
    add(tensor);
  }
  for (int tensor = base.plan.tensor; tensor % 2 == 0;) {
    tensor /= 2;
    add(tensor);
  }
  return axis;
}

void set_pipeline(Scenario& to, int pipeline) {
  const int both = to.plan.pipeline * to.plan.data;
  to.plan.pipeline = pipeline;
  to.plan.data = both / pipeline;
  if (pipeline == 1) to.plan.virtual_stages = 1;
  to.plan.ends_as_layers = ends_should_count(to);
}

/// Trades data for pipeline parallelism.
PlanAxis pipeline_axis(const Scenario& base) {
  PlanAxis axis;
  if (!base.plan.stage_layers.empty()) return axis; // said for this pipeline
  const auto add = [&](int pipeline) {
    axis.options.emplace_back([pipeline](Scenario& to) { set_pipeline(to, pipeline); });
  };
  const int ranks = base.plan.pipeline * base.plan.data;
  for (int pipeline = 2 * base.plan.pipeline;
       ranks % pipeline == 0 && pipeline <= base.model.layers + base.model.decoder_layers &&
       pipeline <= most_growth * base.plan.pipeline;
       pipeline *= 2) {
    add(pipeline);
  }
  for (int pipeline = base.plan.pipeline; pipeline % 2 == 0;) {
    pipeline /= 2;
    add(pipeline);
  }
  return axis;
}

/// Twice or half as many chunks per stage.
PlanAxis interleaving_axis(const Scenario& base) {
  PlanAxis axis;
  if (base.plan.pipeline == 1 || base.plan.schedule != Schedule::one_f_one_b ||
      !base.plan.stage_layers.empty())
    return axis;
  const auto add = [&](int chunks) {
    axis.options.emplace_back([chunks](Scenario& to) {
      to.plan.virtual_stages = chunks;
      to.plan.ends_as_layers = ends_should_count(to);
    });
  };
  add(2 * base.plan.virtual_stages);
  if (base.plan.virtual_stages % 2 == 0) add(base.plan.virtual_stages / 2);
  return axis;
}

PlanAxis sequence_parallel_axis(const Scenario& base) {
  PlanAxis axis;
  if (base.plan.tensor > 1 && !base.plan.sequence_parallel) {
    axis.options.emplace_back([](Scenario& to) { to.plan.sequence_parallel = to.plan.tensor > 1; });
  }
  return axis;
}

PlanAxis sharding_axis(const Scenario& base) {
  PlanAxis axis;
  if (base.plan.zero == 0) {
    axis.options.emplace_back([](Scenario& to) { to.plan.zero = to.plan.data > 1 ? 1 : 0; });
  }
  for (const int stage : {1, 2, 3}) {
    if (stage != base.plan.zero && (stage > 1 || base.plan.zero > 1)) {
      axis.options.emplace_back([stage](Scenario& to) { to.plan.zero = stage; });
    }
  }
  return axis;
}

PlanAxis gradient_axis(const Scenario& base) {
  PlanAxis axis;
  axis.numerics = true;
  if (base.training.gradient_dtype == Precision::fp32 &&
      base.training.precision == Precision::bf16) {
    axis.options.emplace_back([](Scenario& to) { to.training.gradient_dtype = Precision::bf16; });
  }
  return axis;
}

/// What does not depend on other axes of the plan.
Refusal tensor_refusal(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const Plan& plan = scenario.plan;
  const std::int64_t tensor = plan.tensor;
  if (model.heads % tensor != 0 || model.kv_heads % tensor != 0) {
    return {"plan.tensor",
            fmt::format("heads of {} are not divisible by tensor {}", model.name, tensor)};
  }
  if (model.ffn_hidden % tensor != 0) {
    return {"plan.tensor",
            fmt::format("ffn_hidden {} is not divisible by tensor {}", model.ffn_hidden, tensor)};
  }
  if (plan.sequence_parallel && scenario.training.sequence % tensor != 0) {
    return {"training.sequence",
            fmt::format("sequence {} is not divisible by tensor {}, as sequence_parallel needs",
                        scenario.training.sequence, tensor)};
  }
  return {};
}

/// One kind of state to the host, or back: only where the node states how much memory that has, so
/// that nothing is proposed that may not fit there.
PlanAxis offload_axis(const Scenario& base, Tier Offload::*state) {
  PlanAxis axis;
  const Tier now = base.plan.offload.*state;
  const bool known =
      base.cluster.partitions.size() == 1 && base.partition().node.host.capacity.si() > 0.0;
  if (now == Tier::chip && !known) return axis;
  const Tier other = now == Tier::chip ? Tier::host : Tier::chip;
  axis.options.emplace_back([state, other](Scenario& to) { to.plan.offload.*state = other; });
  return axis;
}

} // namespace

std::vector<PlanAxis> plan_axes(const Scenario& scenario) {
  // Tensor first: the choices after it look at what it leaves of the data axis.
  std::vector<PlanAxis> axes{tensor_axis(scenario),
                             pipeline_axis(scenario),
                             interleaving_axis(scenario),
                             sequence_parallel_axis(scenario),
                             sharding_axis(scenario),
                             recompute_axis(scenario),
                             micro_batch_axis(scenario),
                             gradient_axis(scenario),
                             offload_axis(scenario, &Offload::optimizer),
                             offload_axis(scenario, &Offload::activations)};
  std::erase_if(axes, [](const PlanAxis& axis) { return axis.options.empty(); });
  return axes;
}

Refusal refusal_of(const Scenario& scenario) {
  Refusal refusal = tensor_refusal(scenario);
  if (!refusal.key.empty()) return refusal;
  const std::vector<PlanFault> faults = plan_faults(scenario);
  if (faults.empty()) return {};
  return {faults.front().key, faults.front().message};
}

bool feasible(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  // Replicas of unlike partitions have shares of their own.
  const std::int64_t shared_by = scenario.cluster.partitions.size() > 1 ? 1 : plan.data;
  return plan.data >= 1 && scenario.model.vocabulary % plan.tensor == 0 &&
         scenario.training.global_batch % (shared_by * plan.micro_batch) == 0 &&
         scenario.training.global_batch >= plan.data * plan.micro_batch &&
         refusal_of(scenario).key.empty();
}

std::string difference(const Plan& a, const Plan& b) {
  std::string out;
  const auto put = [&](bool differs, std::string_view key, const auto& value) {
    if (differs) {
      out += fmt::format("{}{}={}", out.empty() ? "" : " ", key, value);
    }
  };
  put(a.tensor != b.tensor, "tensor", b.tensor);
  put(a.data != b.data, "data", b.data);
  put(a.expert_tensor != b.expert_tensor, "expert_tensor", b.expert_tensor);
  put(a.pipeline != b.pipeline, "pipeline", b.pipeline);
  put(a.virtual_stages != b.virtual_stages, "virtual_stages", b.virtual_stages);
  put(a.ends_as_layers != b.ends_as_layers, "ends_as_layers", b.ends_as_layers);
  put(a.schedule != b.schedule, "schedule", spelled(b.schedule));
  put(a.context != b.context, "context", b.context);
  put(a.context_exchange != b.context_exchange, "context_exchange", spelled(b.context_exchange));
  put(a.expert != b.expert, "expert", b.expert);
  put(a.sequence_parallel != b.sequence_parallel, "sequence_parallel", b.sequence_parallel);
  put(a.zero != b.zero, "zero", b.zero);
  put(a.hybrid_shard != b.hybrid_shard, "hybrid_shard", b.hybrid_shard);
  put(a.recompute != b.recompute, "recompute", spelled(b.recompute));
  put(a.micro_batch != b.micro_batch, "micro_batch", b.micro_batch);
  put(a.offload.optimizer != b.offload.optimizer, "plan.offload.optimizer",
      spelled(b.offload.optimizer));
  put(a.offload.parameters != b.offload.parameters, "plan.offload.parameters",
      spelled(b.offload.parameters));
  put(a.offload.activations != b.offload.activations, "plan.offload.activations",
      spelled(b.offload.activations));
  return out;
}

std::string difference(const Scenario& from, const Scenario& to) {
  std::string out = difference(from.plan, to.plan);
  if (from.training.gradient_dtype != to.training.gradient_dtype) {
    out += fmt::format("{}gradient_dtype={}", out.empty() ? "" : " ",
                       name_of(to.training.gradient_dtype));
  }
  return out;
}

} // namespace clustersim
