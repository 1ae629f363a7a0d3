#include "plan/reduction.hpp"

#include "plan/offload.hpp"
#include "plan/trained.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clustersim {

Bytes bucket_size(const Scenario& scenario) {
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  return std::max(overlap.bucket, overlap.bucket_per_rank * scenario.data_ranks());
}

int calls_of(Bytes bytes, Bytes bucket) {
  if (bucket <= Bytes{0} || bytes <= bucket) return 1;
  const double calls = std::ceil(bytes / bucket);
  return static_cast<int>(
      std::min(calls, 1e6)); // a bucket of a few bytes is still a finite program
}

Buckets cut_into_buckets(std::int64_t layers, Bytes per_layer, Bytes bucket) {
  Buckets cut;
  if (bucket <= Bytes{0}) {
    cut.layers_per_group = std::max<std::int64_t>(layers, 1);
  } else if (per_layer > Bytes{0} && per_layer < bucket) {
    const double fitting = std::floor(bucket / per_layer);
    cut.layers_per_group = std::max<std::int64_t>(
        1, fitting < static_cast<double>(layers) ? static_cast<std::int64_t>(fitting) : layers);
  }
  cut.calls_per_group = cut.layers_per_group == 1 ? calls_of(per_layer, bucket) : 1;
  cut.groups = layers / cut.layers_per_group;
  cut.rest = layers % cut.layers_per_group;
  return cut;
}

bool reduces_gradients(const Scenario& scenario) {
  // Gradients that leave for the host take the same way, with nobody to reduce with or not.
  return scenario.data_ranks() > 1 || updates_on_host(scenario) || brings_parameters(scenario) ||
         (scenario.model.moe.experts > 0 && scenario.expert_data_ranks() > 1);
}

bool gathers_in_forward(const Scenario& scenario) {
  return reduces_gradients(scenario) &&
         (gathers_always(scenario) || (scenario.plan.zero >= 1 && gather_overlap(scenario) > 0.0));
}

bool reduces_every_micro_batch(const Scenario& scenario) {
  return scenario.plan.zero >= 2 || keeps_gradients_on_host(scenario);
}

bool gathers_always(const Scenario& scenario) {
  return brings_parameters(scenario) || (reduces_gradients(scenario) && scenario.plan.zero == 3);
}

bool hides_reduction(const Scenario& scenario) {
  return scenario.training.stack.overlap.data > 0.0;
}

double gather_overlap(const Scenario& scenario) {
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  return scenario.plan.zero >= 2 ? overlap.weights.value_or(overlap.gather) : overlap.gather;
}

Buckets gather_units(const Scenario& scenario, std::int64_t layers, Bytes per_layer) {
  if (gathers_always(scenario)) return {.groups = layers};
  return cut_into_buckets(layers, per_layer, bucket_size(scenario));
}

namespace {

/// All ranks that hold the same weights of one kind.
struct Replicas {
  GroupKind kind = GroupKind::replicas;
  int ranks = 1;
};

Replicas replicas_of(const Scenario& scenario, bool experts) {
  return experts ? Replicas{GroupKind::expert_replicas, scenario.expert_data_ranks()}
                 : Replicas{GroupKind::replicas, scenario.data_ranks()};
}

/// Of them, those that ZeRO shards over.
int shard_ranks(const Scenario& scenario, Replicas replicas) {
  const int wanted = scenario.plan.hybrid_shard;
  return wanted > 1 ? std::min(wanted, replicas.ranks) : replicas.ranks;
}

Collective over(const Scenario& scenario, CollectiveKind kind, GroupFamily family, Bytes payload,
                int calls) {
  Collective out = data_parallel(scenario, kind, payload, calls);
  out.family = family;
  return out;
}

void append_reduction(BlockBuilder& builder, const Scenario& scenario, Replicas replicas,
                      Bytes each, int calls) {
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  const double hidden =
      scenario.plan.zero >= 2 ? overlap.weights.value_or(overlap.data) : overlap.data;
  const auto add = [&](const char* name, CollectiveKind kind, int step, int ranks, Bytes bytes) {
    builder.collective(
        name,
        over(scenario, kind, group_family(scenario, replicas.kind, step, ranks), bytes, calls),
        Lane::data, hidden);
  };
  if (scenario.plan.zero == 0) {
    return add("gradient all-reduce", CollectiveKind::all_reduce, 1, replicas.ranks, each);
  }
  const int within = shard_ranks(scenario, replicas);
  add("gradient reduce-scatter", CollectiveKind::reduce_scatter, 1, within, each);
  add("gradient all-reduce over shard groups", CollectiveKind::all_reduce, within,
      replicas.ranks / within, each / static_cast<double>(within));
}

} // namespace

Block gradient_reduction(const Scenario& scenario, const Shard& shard, std::string name,
                         Held parameters, int calls) {
  BlockBuilder builder(scenario, shard, Phase::gradient);
  const Bytes element = gradient_element(scenario) / static_cast<double>(calls);
  append_reduction(builder, scenario, replicas_of(scenario, false), parameters.dense * element,
                   calls);
  append_reduction(builder, scenario, replicas_of(scenario, true), parameters.experts * element,
                   calls);
  append_gradients(builder, scenario, parameters);
  return builder.finish(std::move(name));
}

Block parameter_gather(const Scenario& scenario, const Shard& shard, std::string name, Held held,
                       double hidden) {
  BlockBuilder builder(scenario, shard,
                       gathers_always(scenario) ? Phase::forward : Phase::optimizer);
  append_parameters(builder, scenario, held, hidden > 0.0 ? 1.0 : 0.0);
  for (const bool experts : {false, true}) {
    const Bytes bytes{experts ? held.experts : held.dense};
    const Replicas replicas = replicas_of(scenario, experts);
    const int calls = scenario.plan.zero == 3 ? 1 : calls_of(bytes, bucket_size(scenario));
    builder.collective(
        "parameter all-gather",
        over(scenario, CollectiveKind::all_gather,
             group_family(scenario, replicas.kind, 1, shard_ranks(scenario, replicas)),
             bytes / static_cast<double>(calls), calls),
        Lane::data, hidden);
  }
  return builder.finish(std::move(name));
}

namespace {

/// What is gathered per layer is cast first; what is kept is gathered as it is kept.
double gathered_element(const Scenario& scenario) {
  return (scenario.plan.zero >= 2 ? shard_of(scenario).element : weight_element(scenario)).si();
}

/// Outside the layers nothing is quantised.
Held end_to_gather(const Scenario& scenario, Held parameters, bool trained) {
  if (!trained && !gathers_always(scenario)) return {};
  return gathered_element(scenario) * parameters;
}

} // namespace

Held layer_to_gather(const Scenario& scenario, LayerKind kind, bool frozen) {
  const bool adapts = scenario.training.tuning.adapts();
  const Held trained = frozen ? Held{} : trained_in_layer(scenario, kind).parameters;
  const Held changed = gathered_element(scenario) * trained;
  if (!gathers_always(scenario) || (!adapts && !frozen)) return changed;
  const Held still = adapts && !frozen ? -weight_element(scenario).si() * trained : Held{};
  return changed + layer_weight_bytes(scenario, kind, frozen) + still;
}

Held embedding_to_gather(const Scenario& scenario, const Chunk& chunk) {
  const Held held{parameters_of(scenario, chunk).embedding, 0.0};
  return end_to_gather(scenario, held, trains_embedding(scenario));
}

Held head_to_gather(const Scenario& scenario, const Chunk& chunk) {
  const StageParameters held = parameters_of(scenario, chunk);
  return end_to_gather(scenario, Held{held.head, 0.0} + held.prediction, trains_head(scenario));
}

Held chunk_to_gather(const Scenario& scenario, const Chunk& chunk) {
  Held sum = embedding_to_gather(scenario, chunk) + head_to_gather(scenario, chunk);
  for (const LayerKind kind : layer_kinds) {
    const auto frozen = static_cast<double>(frozen_of(chunk, kind));
    const double rest = static_cast<double>(layers_of(chunk, kind)) - frozen;
    if (frozen > 0.0) sum = sum + frozen * layer_to_gather(scenario, kind, true);
    if (rest > 0.0) sum = sum + rest * layer_to_gather(scenario, kind, false);
  }
  return sum;
}

Block stage_send(const Scenario& scenario, const Shard& shard, Phase phase, bool in_decoder) {
  BlockBuilder builder(scenario, shard, phase);
  const bool backward = phase == Phase::backward;
  const double hidden =
      scenario.plan.virtual_stages > 1 ? scenario.training.stack.overlap.pipeline : 0.0;
  double sent = local_hidden_elements(shard);
  if (in_decoder) sent += local_hidden_elements(shard_for_head(scenario, shard));
  builder.collective(backward ? "send gradient to stage before" : "send to next stage",
                     to_next_stage(scenario, sent * shard.element), Lane::pipeline, hidden);
  return builder.finish(backward ? "send backward" : "send forward");
}

Block join_data(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::gradient);
  builder.join(Lane::data);
  if (scenario.plan.offload.any()) builder.join(Lane::host);
  return builder.finish("wait for data axis");
}

} // namespace clustersim
