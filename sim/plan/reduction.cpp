#include "plan/reduction.hpp"

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
  return scenario.data_ranks() > 1;
}

bool gathers_in_forward(const Scenario& scenario) {
  return reduces_gradients(scenario) &&
         (scenario.plan.zero == 3 ||
          (scenario.plan.zero >= 1 && scenario.training.stack.overlap.gather > 0.0));
}

bool reduces_every_micro_batch(const Scenario& scenario) {
  return scenario.plan.zero >= 2;
}

bool gathers_always(const Scenario& scenario) {
  return reduces_gradients(scenario) && scenario.plan.zero == 3;
}

bool hides_reduction(const Scenario& scenario) {
  return scenario.training.stack.overlap.data > 0.0;
}

double gather_overlap(const Scenario& scenario) {
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  return scenario.plan.zero == 3 ? overlap.weights.value_or(overlap.gather) : overlap.gather;
}

Buckets gather_units(const Scenario& scenario, std::int64_t layers, Bytes per_layer) {
  if (scenario.plan.zero == 3) return {.groups = layers};
  return cut_into_buckets(layers, per_layer, bucket_size(scenario));
}

namespace {

/// Ranks that ZeRO shards over: all that hold the same weights, or a group of them.
int shard_ranks(const Scenario& scenario) {
  const int all = scenario.data_ranks();
  return scenario.plan.hybrid_shard > 1 ? std::min(scenario.plan.hybrid_shard, all) : all;
}

Collective within_shards(const Scenario& scenario, CollectiveKind kind, Bytes payload, int calls) {
  Collective out = data_parallel(scenario, kind, payload, calls);
  out.family.size = shard_ranks(scenario);
  return out;
}

/// The same shard in the other groups.
Collective across_shards(const Scenario& scenario, Bytes payload, int calls) {
  const int ranks = shard_ranks(scenario);
  Collective out = data_parallel(scenario, CollectiveKind::all_reduce, payload / ranks, calls);
  out.family.size = scenario.data_ranks() / ranks;
  out.family.stride *= ranks;
  return out;
}

} // namespace

Block gradient_reduction(const Scenario& scenario, const Shard& shard, std::string name,
                         Bytes bytes, int calls) {
  BlockBuilder builder(scenario, shard, Phase::gradient);
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  const Bytes each = bytes / static_cast<double>(calls);
  const double hidden =
      scenario.plan.zero == 3 ? overlap.weights.value_or(overlap.data) : overlap.data;
  if (scenario.plan.zero == 0) {
    builder.collective("gradient all-reduce",
                       data_parallel(scenario, CollectiveKind::all_reduce, each, calls), Lane::data,
                       hidden);
  } else {
    builder.collective("gradient reduce-scatter",
                       within_shards(scenario, CollectiveKind::reduce_scatter, each, calls),
                       Lane::data, hidden);
    builder.collective("gradient all-reduce over shard groups",
                       across_shards(scenario, each, calls), Lane::data, hidden);
  }
  return builder.finish(std::move(name));
}

Block parameter_gather(const Scenario& scenario, const Shard& shard, std::string name,
                       double parameters, double hidden) {
  BlockBuilder builder(scenario, shard,
                       scenario.plan.zero == 3 ? Phase::forward : Phase::optimizer);
  // What is gathered per layer is cast first; what is kept is gathered as it is kept.
  const Bytes bytes =
      parameters * (scenario.plan.zero == 3 ? shard.element : weight_element(scenario));
  const int calls = scenario.plan.zero == 3 ? 1 : calls_of(bytes, bucket_size(scenario));
  builder.collective("parameter all-gather",
                     within_shards(scenario, CollectiveKind::all_gather,
                                   bytes / static_cast<double>(calls), calls),
                     Lane::data, hidden);
  return builder.finish(std::move(name));
}

Block stage_send(const Scenario& scenario, const Shard& shard, Phase phase) {
  BlockBuilder builder(scenario, shard, phase);
  const bool backward = phase == Phase::backward;
  const double hidden =
      scenario.plan.virtual_stages > 1 ? scenario.training.stack.overlap.pipeline : 0.0;
  builder.collective(backward ? "send gradient to stage before" : "send to next stage",
                     to_next_stage(scenario, local_hidden_elements(shard) * shard.element),
                     Lane::pipeline, hidden);
  return builder.finish(backward ? "send backward" : "send forward");
}

Block join_data(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::gradient);
  builder.join(Lane::data);
  return builder.finish("wait for data axis");
}

} // namespace clustersim
