#include "plan/stage.hpp"

#include <algorithm>
#include <cstddef>

namespace clustersim {

namespace {

/// Layers [first, first + count) by kind, the encoder's before the decoder's.
std::array<std::int64_t, layer_kinds.size()> kinds_of(const Scenario& scenario, std::int64_t first,
                                                      std::int64_t count) {
  const Transformer& model = scenario.model;
  const std::int64_t end = first + count;
  std::array<std::int64_t, layer_kinds.size()> kinds{};
  for (std::int64_t i = first; i < std::min(end, model.layers); ++i)
    ++kinds[static_cast<std::size_t>(kind_of(scenario, i))];
  kinds[static_cast<std::size_t>(LayerKind::cross)] =
      std::max<std::int64_t>(end - std::max(first, model.layers), 0);
  return kinds;
}

/// Under the block method the first layers of a chunk are recomputed, else all of them.
Chunk chunk_of(const Scenario& scenario, std::int64_t first, std::int64_t count) {
  const Transformer& model = scenario.model;
  const Plan& plan = scenario.plan;
  const std::int64_t end = first + count;
  const bool block =
      plan.recompute == Recompute::full && plan.recompute_method == RecomputeMethod::block;
  Chunk chunk;
  chunk.layers = count;
  chunk.kinds = kinds_of(scenario, first, count);
  chunk.recomputed =
      block ? kinds_of(scenario, first, std::min(plan.recompute_layers, count)) : chunk.kinds;
  const std::int64_t frozen = scenario.training.tuning.frozen_layers;
  chunk.frozen = kinds_of(scenario, first, std::clamp<std::int64_t>(frozen - first, 0, count));
  // What no gradient reaches is not computed again.
  for (std::size_t i = 0; i < layer_kinds.size(); ++i) {
    const std::int64_t still =
        block ? std::min(chunk.frozen[i], chunk.recomputed[i]) : chunk.frozen[i];
    chunk.recomputed[i] -= still;
  }
  const bool both = model.decoder_layers > 0;
  chunk.decoder_entry = both && first <= model.layers && end > model.layers;
  return chunk;
}

} // namespace

std::int64_t layers_of(const Chunk& chunk, LayerKind kind) {
  return chunk.kinds[static_cast<std::size_t>(kind)];
}

std::int64_t recomputed_of(const Chunk& chunk, LayerKind kind) {
  return chunk.recomputed[static_cast<std::size_t>(kind)];
}

std::int64_t frozen_of(const Chunk& chunk, LayerKind kind) {
  return chunk.frozen[static_cast<std::size_t>(kind)];
}

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

Chunk whole_model(const Scenario& scenario) {
  Chunk all = chunk_of(scenario, 0, all_layers(scenario.model));
  all.embedding = all.head = true;
  return all;
}

std::vector<Stage> stages_of(const Scenario& scenario) {
  const std::optional<PipelineSchedule> schedule = schedule_of(scenario);
  if (!schedule) return {{whole_model(scenario)}};
  std::vector<Stage> stages(static_cast<std::size_t>(schedule->stages),
                            Stage(static_cast<std::size_t>(schedule->chunks)));
  for (const std::vector<PipePlace>& pipe : pipes_of(*schedule)) {
    const std::vector<std::int64_t>& given = scenario.plan.stage_layers;
    const std::vector<std::int64_t> layers =
        given.size() == pipe.size()
            ? given
            : share_layers(all_layers(scenario.model), static_cast<std::int64_t>(pipe.size()),
                           scenario.plan.ends_as_layers);
    std::int64_t first = 0;
    for (std::size_t i = 0; i < pipe.size(); ++i) {
      Chunk& chunk =
          stages[static_cast<std::size_t>(pipe[i].stage)][static_cast<std::size_t>(pipe[i].chunk)];
      chunk = chunk_of(scenario, first, layers[i]);
      chunk.embedding = i == 0;
      chunk.head = i + 1 == pipe.size();
      first += layers[i];
    }
  }
  return stages;
}

namespace {

/// A head that is tied or follows prediction modules needs the table, a decoder's begin does too.
bool needs_table(const Scenario& scenario, const Chunk& chunk) {
  const Transformer& model = scenario.model;
  const bool tied = model.tied_embeddings && has_vocabulary_head(model);
  return chunk.embedding || chunk.decoder_entry || (chunk.head && (tied || model.mtp_layers > 0));
}

} // namespace

bool shares_embedding(const Scenario& scenario, const Stage& stage) {
  const Transformer& model = scenario.model;
  const bool tied = model.tied_embeddings && has_vocabulary_head(model);
  const bool copies = tied || model.mtp_layers > 0 || model.decoder_layers > 0;
  return scenario.plan.pipeline > 1 && copies &&
         std::ranges::any_of(stage, [&](const Chunk& one) { return needs_table(scenario, one); });
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
    out.prediction = static_cast<double>(scenario.model.mtp_layers) * local.prediction;
  }
  if (scenario.plan.pipeline > 1 && !chunk.embedding && needs_table(scenario, chunk)) {
    out.head += elements(shard.vocabulary, table_width(scenario.model));
  }
  return out;
}

StageParameters parameters_of(const Scenario& scenario, const Stage& stage) {
  StageParameters out;
  for (const Chunk& chunk : stage) {
    const StageParameters one = parameters_of(scenario, chunk);
    out.layers += one.layers;
    out.in_layers = out.in_layers + one.in_layers;
    out.prediction = out.prediction + one.prediction;
    out.embedding += one.embedding;
    out.head += one.head;
  }
  return out;
}

} // namespace clustersim
