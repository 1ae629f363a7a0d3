#include "plan/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace clustersim {

Bytes bucket_size(const Scenario& scenario) {
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  return std::max(overlap.bucket, overlap.bucket_per_rank * scenario.plan.data);
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
  return scenario.plan.data > 1;
}

bool gathers_in_forward(const Scenario& scenario) {
  return reduces_gradients(scenario) && scenario.plan.zero >= 1 &&
         scenario.training.stack.overlap.gather > 0.0;
}

Block gradient_reduction(const Scenario& scenario, const Shard& shard, std::string name,
                         Bytes bytes, int calls) {
  BlockBuilder builder(scenario, shard, Phase::gradient);
  const bool sharded = scenario.plan.zero >= 1;
  const auto kind = sharded ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  builder.collective(sharded ? "gradient reduce-scatter" : "gradient all-reduce",
                     data_parallel(scenario, kind, bytes / static_cast<double>(calls), calls),
                     Lane::data, scenario.training.stack.overlap.data);
  return builder.finish(std::move(name));
}

Block parameter_gather(const Scenario& scenario, const Shard& shard, std::string name,
                       double parameters, double hidden) {
  BlockBuilder builder(scenario, shard, Phase::optimizer);
  const Bytes bytes = parameters * weight_element(scenario);
  const int calls = calls_of(bytes, bucket_size(scenario));
  builder.collective("parameter all-gather",
                     data_parallel(scenario, CollectiveKind::all_gather,
                                   bytes / static_cast<double>(calls), calls),
                     Lane::data, hidden);
  return builder.finish(std::move(name));
}

Block join_data(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::gradient);
  builder.join(Lane::data);
  return builder.finish("wait for data axis");
}

} // namespace clustersim
