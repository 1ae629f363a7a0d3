#include "spec/validate_plan.hpp"

#include "spec/placement.hpp"
#include "spec/plan_parts.hpp"
#include "spec/validate_tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace clustersim {
namespace {

std::string places_text(const Plan& plan) {
  return plan.virtual_stages > 1 ? fmt::format("{} x {}", plan.pipeline, plan.virtual_stages)
                                 : fmt::format("{}", plan.pipeline);
}

class AxisChecks {
public:
  explicit AxisChecks(const Scenario& scenario)
      : scenario_(scenario), plan_(scenario.plan), model_(scenario.model) {}

  std::vector<PlanFault> faults() {
    stages();
    add_layer_split_faults(scenario_, faults_);
    add_token_faults(scenario_, faults_);
    if (unlike()) {
      partitions();
    } else {
      schedule();
    }
    recompute();
    sharding();
    context();
    experts();
    if (faults_.empty()) placement();
    return std::move(faults_);
  }

private:
  void stages() {
    const std::int64_t places = std::int64_t{plan_.pipeline} * plan_.virtual_stages;
    if (plan_.virtual_stages > 1 && plan_.pipeline == 1) {
      return wrong("plan.virtual_stages", "virtual_stages divide a pipeline, which is 1",
                   "virtual_stages = 1, or pipeline above 1");
    }
    if (plan_.pipeline == 1) return;
    // Stages are timed one by one, pass by pass; the deepest published pipeline has 64.
    constexpr std::int64_t most_places = 1024;
    if (plan_.pipeline > most_pipeline_stages || places > most_places) {
      return wrong("plan.pipeline",
                   fmt::format("{} stages are more than can be timed", stage_text()),
                   fmt::format("at most {} stages, {} with virtual ones", most_pipeline_stages,
                               most_places));
    }
    if (plan_.virtual_stages > 1 && plan_.schedule != Schedule::one_f_one_b) {
      return wrong("plan.virtual_stages", "only the schedule 1f1b has virtual stages",
                   "virtual_stages = 1, or schedule = \"1f1b\"");
    }
    // Embedding and head can fill places of their own.
    const std::int64_t layers = all_layers(model_);
    if (layers + (plan_.ends_as_layers ? 2 : 0) >= places) return;
    wrong("plan.pipeline",
          fmt::format("{} layers of {} cannot fill {} stages", layers, model_.name, stage_text()),
          plan_.virtual_stages > 1 && plan_.pipeline <= layers
              ? fmt::format("virtual_stages = {}", layers / plan_.pipeline)
              : fmt::format("pipeline = {}", layers / plan_.virtual_stages));
  }

  void schedule() {
    if (plan_.pipeline == 1) return;
    const std::int64_t micro_batches = scenario_.micro_batches();
    const std::int64_t stages = plan_.pipeline;
    const auto batch_of = [&](std::int64_t count) {
      return count * plan_.data * plan_.micro_batch;
    };
    if (plan_.virtual_stages > 1 && micro_batches % stages != 0) {
      const std::int64_t below = micro_batches / stages * stages;
      wrong("training.global_batch",
            fmt::format("{} micro-batches are not divisible by pipeline {}, as interleaving needs",
                        micro_batches, stages),
            below > 0
                ? fmt::format("global_batch = {} or {}", batch_of(below), batch_of(below + stages))
                : fmt::format("global_batch = {}", batch_of(stages)));
    }
    if (plan_.schedule != Schedule::dual_pipe) return;
    if (stages % 2 != 0) {
      wrong("plan.pipeline", "dualpipe feeds a pipeline from both ends, and so needs even stages",
            fmt::format("pipeline = {} or {}", std::max<std::int64_t>(stages - 1, 2), stages + 1));
    } else if (micro_batches < 2 * stages || micro_batches % 2 != 0) {
      wrong("training.global_batch",
            fmt::format("dualpipe needs an even number of micro-batches, at least {}, not {}",
                        2 * stages, micro_batches),
            fmt::format("global_batch = {}",
                        batch_of(std::max(2 * stages, micro_batches + micro_batches % 2))));
    }
  }

  [[nodiscard]] bool unlike() const {
    return scenario_.cluster.partitions.size() > 1 && scenario_.share == 0;
  }

  /// Of a cluster of unlike partitions whose shares are not set yet: every replica lies inside one
  /// of them, and all can have enough micro-batches.
  void partitions() {
    const std::int64_t replica = std::int64_t{plan_.tensor} * plan_.context * plan_.pipeline;
    const std::int64_t together = std::int64_t{plan_.expert} * plan_.expert_tensor;
    for (const Partition& partition : scenario_.cluster.partitions) {
      if (partition.chips() % replica != 0) {
        return wrong(
            "plan.tensor",
            fmt::format("the {} chips of a partition hold no whole replicas of {} chips",
                        partition.chips(), replica),
            fmt::format("replicas of {} chips", nearest_divisors(partition.chips(), replica)));
      }
      if (model_.moe.experts > 0 && partition.chips() / plan_.pipeline % together != 0) {
        return wrong("plan.expert",
                     fmt::format("expert {} x expert_tensor {} does not divide the {} ranks of a "
                                 "stage in a partition",
                                 plan_.expert, plan_.expert_tensor,
                                 partition.chips() / plan_.pipeline),
                     fmt::format("a product of {}",
                                 nearest_divisors(partition.chips() / plan_.pipeline, together)));
      }
    }
    const MicroBatchRule rule = micro_batch_rule(plan_);
    const std::int64_t all = scenario_.training.global_batch / plan_.micro_batch;
    if (all % rule.multiple == 0 && all >= rule.least * plan_.data) return;
    wrong("training.global_batch",
          fmt::format("{} micro-batches cannot be shared out over {} replicas by multiples of {}, "
                      "at least {} each",
                      all, plan_.data, rule.multiple, rule.least),
          fmt::format("global_batch = {}",
                      plan_.micro_batch * std::max(rule.least * plan_.data,
                                                   (all / rule.multiple + 1) * rule.multiple)));
  }

  void recompute() {
    const bool full = plan_.recompute == Recompute::full;
    if (!full && plan_.recompute_method == RecomputeMethod::block) {
      wrong("plan.recompute_method", "only full recompute is done by blocks",
            "recompute = \"full\"");
    } else if (!full && plan_.recompute_layers != 1) {
      wrong("plan.recompute_layers", "only full recompute counts layers", "recompute = \"full\"");
    } else if (plan_.recompute_layers > model_.layers) {
      wrong("plan.recompute_layers",
            fmt::format("{} has {} layers, not {}", model_.name, model_.layers,
                        plan_.recompute_layers),
            fmt::format("at most {}", model_.layers));
    }
  }

  void sharding() {
    const std::int64_t ranks = scenario_.data_ranks();
    if (plan_.hybrid_shard == 1) return;
    if (plan_.zero == 0) {
      wrong("plan.hybrid_shard", "hybrid_shard limits what zero shards over, and zero is 0",
            "hybrid_shard = 1, or zero above 0");
    } else if (ranks % plan_.hybrid_shard != 0) {
      wrong("plan.hybrid_shard",
            fmt::format("{} ranks of the data axis are not divisible by hybrid_shard {}", ranks,
                        plan_.hybrid_shard),
            "hybrid_shard = " + nearest_divisors(ranks, plan_.hybrid_shard));
    }
  }

  void context() {
    const std::int64_t context = plan_.context;
    if (context == 1) return;
    if (model_.decoder_layers > 0) {
      return wrong(
          "plan.context",
          fmt::format("{} has an encoder, whose output no context axis shares out", model_.name),
          "context = 1");
    }
    const std::int64_t sequence = scenario_.training.sequence;
    const bool heads = plan_.context_exchange == ContextExchange::ulysses;
    // Ring and gather give every rank an early and a late piece, so that causal work is even.
    const std::int64_t pieces = heads ? context : 2 * context;
    constexpr std::int64_t most = 1024;
    if (context > most) {
      wrong("plan.context",
            fmt::format("context {} is beyond what a ring is written out for", context),
            fmt::format("at most {}", most));
    } else if (sequence % pieces != 0) {
      wrong("training.sequence",
            fmt::format("sequence {} does not split into {} equal pieces for context {}", sequence,
                        pieces, context),
            nearest_multiples(pieces, sequence));
    } else if (plan_.sequence_parallel && sequence / context % plan_.tensor != 0) {
      wrong("training.sequence",
            fmt::format("{} tokens per context rank are not divisible by tensor {}, as "
                        "sequence_parallel needs",
                        sequence / context, plan_.tensor),
            nearest_multiples(std::lcm(pieces, context * plan_.tensor), sequence));
    }
    const std::int64_t shared = std::gcd(model_.heads, model_.kv_heads) / plan_.tensor;
    if (heads && (shared == 0 || shared % context != 0)) {
      wrong("plan.context",
            fmt::format("ulysses deals heads out, and {} heads per tensor rank are not divisible "
                        "by context {}",
                        shared, context),
            "context = " + nearest_divisors(std::max<std::int64_t>(shared, 1), context) +
                ", or context_exchange = \"ring\"");
    }
  }

  void experts() {
    const MixtureOfExperts& moe = model_.moe;
    const std::int64_t together = std::int64_t{plan_.expert} * plan_.expert_tensor;
    const std::int64_t ranks = std::int64_t{scenario_.data_ranks()} * plan_.tensor;
    if (moe.experts == 0) {
      if (plan_.expert > 1 || plan_.expert_tensor > 1) {
        wrong(plan_.expert > 1 ? "plan.expert" : "plan.expert_tensor",
              fmt::format("{} has no experts to share out", model_.name), "1");
      }
      return;
    }
    if (moe.experts % plan_.expert != 0) {
      wrong("plan.expert",
            fmt::format("{} experts of {} are not divisible by expert {}", moe.experts, model_.name,
                        plan_.expert),
            "expert = " + nearest_divisors(moe.experts, plan_.expert));
    } else if (moe.ffn_hidden % plan_.expert_tensor != 0) {
      wrong("plan.expert_tensor",
            fmt::format("moe.ffn_hidden {} is not divisible by expert_tensor {}", moe.ffn_hidden,
                        plan_.expert_tensor),
            "expert_tensor = " + nearest_divisors(moe.ffn_hidden, plan_.expert_tensor));
    } else if (ranks % together != 0) {
      wrong("plan.expert",
            fmt::format("expert {} x expert_tensor {} does not divide the {} ranks of tensor x "
                        "context x data",
                        plan_.expert, plan_.expert_tensor, ranks),
            fmt::format("a product of {}", nearest_divisors(ranks, together)));
    }
  }

  /// Groups whose members no two nested runs of ranks make.
  void placement() {
    const auto refuse = [&](const std::string& key, const char* group) {
      wrong(key,
            fmt::format("with the order {} the {} do not lie at equal distances",
                        placement_text(plan_.placement), group),
            "another order, such as \"" + placement_text(usual_placement) + "\"");
    };
    if (!rank_group(plan_, GroupKind::replicas)) {
      return refuse("plan.placement", "ranks that hold the same weights");
    }
    const bool experts = model_.moe.experts > 0;
    for (const GroupKind kind :
         {GroupKind::expert_tensor, GroupKind::expert, GroupKind::expert_replicas}) {
      if (experts && !rank_group(plan_, kind)) {
        return refuse("plan.placement", "ranks that share the experts");
      }
    }
    for (const GroupKind kind : {GroupKind::replicas, GroupKind::expert_replicas}) {
      const bool dense = kind == GroupKind::replicas;
      const int all = dense ? scenario_.data_ranks() : scenario_.expert_data_ranks();
      const int within = std::min(plan_.hybrid_shard, all);
      if (within == 1 || (!dense && !experts)) continue;
      if (all % within != 0 || !rank_group(plan_, kind, 1, within) ||
          !rank_group(plan_, kind, within, all / within)) {
        return refuse("plan.hybrid_shard", "ranks that zero shards over");
      }
    }
  }

  [[nodiscard]] std::string stage_text() const { return places_text(plan_); }
  void wrong(std::string key, std::string message, std::string expected) {
    faults_.push_back({std::move(key), std::move(message), std::move(expected)});
  }

  const Scenario& scenario_;
  const Plan& plan_;
  const Transformer& model_;
  std::vector<PlanFault> faults_;
};

void say_layer_split(Scenario& scenario) {
  const Plan& plan = scenario.plan;
  if (!plan.stage_layers.empty()) return;
  const std::int64_t places = std::int64_t{plan.pipeline} * plan.virtual_stages;
  const std::int64_t shared = all_layers(scenario.model) + (plan.ends_as_layers ? 2 : 0);
  if (plan.pipeline > 1 && shared % places != 0) {
    scenario.assumptions.push_back(
        fmt::format("{} layers do not divide by {} stages: those in the middle hold one more",
                    all_layers(scenario.model), places_text(plan)));
  } else if (plan.pipeline > 1 && plan.ends_as_layers) {
    scenario.assumptions.push_back(
        fmt::format("embedding and head count as a layer each: {} layers + 2 divide by {} stages",
                    all_layers(scenario.model), places_text(plan)));
  }
}

} // namespace

std::string nearest_divisors(std::int64_t number, std::int64_t wanted) {
  std::int64_t below = 1;
  std::int64_t above = 0;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    for (const std::int64_t one : {d, number / d}) {
      if (number % d == 0 && one < wanted) {
        below = std::max(below, one);
      } else if (number % d == 0 && one > wanted) {
        above = above == 0 ? one : std::min(above, one);
      }
    }
  }
  return above == 0 ? fmt::format("{}", below) : fmt::format("{} or {}", below, above);
}

std::string nearest_multiples(std::int64_t unit, std::int64_t wanted) {
  const std::int64_t below = wanted / unit * unit;
  return below > 0 ? fmt::format("{} or {}", below, below + unit) : fmt::format("{}", unit);
}

MicroBatchRule micro_batch_rule(const Plan& plan) {
  if (plan.pipeline == 1) return {};
  if (plan.schedule == Schedule::dual_pipe) return {2, 2 * std::int64_t{plan.pipeline}};
  return plan.virtual_stages > 1 ? MicroBatchRule{plan.pipeline, plan.pipeline} : MicroBatchRule{};
}

std::vector<PlanFault> plan_faults(const Scenario& scenario) {
  std::vector<PlanFault> faults = AxisChecks(scenario).faults();
  const std::vector<PlanFault> more = offload_faults(scenario);
  faults.insert(faults.end(), more.begin(), more.end());
  return faults;
}

bool ends_should_count(const Scenario& scenario) {
  const std::int64_t places = std::int64_t{scenario.plan.pipeline} * scenario.plan.virtual_stages;
  const std::int64_t layers = all_layers(scenario.model);
  return scenario.plan.stage_layers.empty() && layers % places != 0 && (layers + 2) % places == 0;
}

void validate_plan_axes(Scenario& scenario, const Reading& reading, Diagnostics& out) {
  if (!reading.has("plan.ends_as_layers")) {
    scenario.plan.ends_as_layers = ends_should_count(scenario);
  }
  if (!reading.has("plan.expert_tensor") && scenario.model.moe.experts > 0) {
    scenario.plan.expert_tensor = scenario.plan.tensor;
  }
  const std::vector<PlanFault> faults = plan_faults(scenario);
  for (const PlanFault& fault : faults)
    out.add(diagnose(reading.place_of(fault.key), fault.message, fault.expected));
  if (faults.empty()) say_layer_split(scenario);
}

} // namespace clustersim
