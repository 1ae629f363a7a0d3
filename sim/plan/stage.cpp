#include "plan/stage.hpp"

#include <algorithm>
#include <cstddef>

namespace clustersim {

namespace {

/// Layers with experts among [first, end): every interval-th after the dense ones.
std::int64_t routed_between(const Transformer& model, std::int64_t first, std::int64_t end) {
  if (model.moe.experts == 0) return 0;
  const auto before = [&](std::int64_t layer) {
    return std::max<std::int64_t>(layer - model.moe.dense_first, 0) / model.moe.interval;
  };
  return before(end) - before(first);
}

} // namespace

std::int64_t layers_of(const Chunk& chunk, LayerKind kind) {
  return kind == LayerKind::experts ? chunk.routed : chunk.layers - chunk.routed;
}

std::int64_t recomputed_of(const Chunk& chunk, LayerKind kind) {
  return kind == LayerKind::experts ? chunk.recomputed_routed
                                    : chunk.recomputed - chunk.recomputed_routed;
}

namespace {

/// Under the block method the first layers of a chunk, else all of them.
Chunk chunk_of(const Scenario& scenario, std::int64_t first, std::int64_t layers, bool embedding,
               bool head) {
  const bool block = scenario.plan.recompute == Recompute::full &&
                     scenario.plan.recompute_method == RecomputeMethod::block;
  Chunk chunk{.layers = layers,
              .routed = routed_between(scenario.model, first, first + layers),
              .embedding = embedding,
              .head = head};
  chunk.recomputed = block ? std::min(scenario.plan.recompute_layers, layers) : layers;
  chunk.recomputed_routed = routed_between(scenario.model, first, first + chunk.recomputed);
  return chunk;
}

} // namespace

std::optional<PipelineSchedule> schedule_of(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  if (plan.pipeline == 1) return std::nullopt;
  return PipelineSchedule{.kind = plan.schedule,
                          .stages = plan.pipeline,
                          .chunks = plan.schedule == Schedule::dual_pipe ? 2 : plan.virtual_stages,
                          .micro_batches = scenario.micro_batches()};
}

std::vector<std::int64_t> share_layers(std::int64_t layers, std::int64_t places,
                                       bool ends_as_layers) {
  const std::int64_t shares = layers + (ends_as_layers ? 2 : 0);
  const auto count = static_cast<std::size_t>(places);
  std::vector<std::int64_t> out(count, shares / places);
  for (std::int64_t i = 0; i < shares % places; ++i) {
    const std::int64_t inner = places - 2;
    const std::int64_t at = i < inner ? i + 1 : i == inner ? 0 : places - 1;
    ++out[static_cast<std::size_t>(at)];
  }
  if (ends_as_layers) {
    --out.front();
    --out.back();
  }
  return out;
}

std::vector<Stage> stages_of(const Scenario& scenario) {
  const std::optional<PipelineSchedule> schedule = schedule_of(scenario);
  if (!schedule) {
    return {{chunk_of(scenario, 0, scenario.model.layers, true, true)}};
  }
  std::vector<Stage> stages(static_cast<std::size_t>(schedule->stages),
                            Stage(static_cast<std::size_t>(schedule->chunks)));
  for (const std::vector<PipePlace>& pipe : pipes_of(*schedule)) {
    const std::vector<std::int64_t> layers =
        share_layers(scenario.model.layers, static_cast<std::int64_t>(pipe.size()),
                     scenario.plan.ends_as_layers);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < pipe.size(); ++i) {
      Chunk& chunk =
          stages[static_cast<std::size_t>(pipe[i].stage)][static_cast<std::size_t>(pipe[i].chunk)];
      chunk = chunk_of(scenario, first, layers[i], i == 0, i + 1 == pipe.size());
      first += layers[i];
    }
  }
  return stages;
}

bool shares_embedding(const Scenario& scenario) {
  return scenario.plan.pipeline > 1 && scenario.model.tied_embeddings &&
         has_vocabulary_head(scenario.model);
}

StageParameters parameters_of(const Scenario& scenario, const Chunk& chunk) {
  const LocalParameters local = local_parameters(scenario);
  const Shard shard = shard_of(scenario);
  StageParameters out;
  out.layers = static_cast<double>(chunk.layers);
  for (const LayerKind kind : layer_kinds) {
    const double count = static_cast<double>(layers_of(chunk, kind));
    out.in_layers = out.in_layers + count * local.of(kind);
  }
  if (chunk.embedding) out.embedding = local.embedding;
  if (chunk.head) {
    out.head = local.head;
    if (shares_embedding(scenario)) out.head += elements(shard.vocabulary, shard.hidden);
  }
  return out;
}

StageParameters parameters_of(const Scenario& scenario, const Stage& stage) {
  StageParameters out;
  for (const Chunk& chunk : stage) {
    const StageParameters one = parameters_of(scenario, chunk);
    out.layers += one.layers;
    out.in_layers = out.in_layers + one.in_layers;
    out.embedding += one.embedding;
    out.head += one.head;
  }
  return out;
}

} // namespace clustersim
