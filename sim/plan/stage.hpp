#pragma once
// Which layers a pipeline stage holds (docs/explanation/pipeline.md). Without a pipeline there is
// one stage with one chunk that holds all.

#include "plan/schedule.hpp"
#include "plan/shard.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace clustersim {

/// Consecutive layers on one stage, with the embedding before them or the head after them.
struct Chunk {
  std::int64_t layers = 0; // all
  std::int64_t routed = 0; // of them, with experts
  bool embedding = false, head = false;
  std::int64_t recomputed = 0, recomputed_routed = 0; // layers that the plan's recompute is for
};

[[nodiscard]] std::int64_t layers_of(const Chunk& chunk, LayerKind kind);
[[nodiscard]] std::int64_t recomputed_of(const Chunk& chunk, LayerKind kind);

using Stage = std::vector<Chunk>;

/// Nothing without a pipeline.
[[nodiscard]] std::optional<PipelineSchedule> schedule_of(const Scenario& scenario);

/// Layers of each place, first to last: as even as they go. Places in the middle take what is left
/// over, since embedding and head burden the ends.
[[nodiscard]] std::vector<std::int64_t> share_layers(std::int64_t layers, std::int64_t places,
                                                     bool ends_as_layers);

[[nodiscard]] std::vector<Stage> stages_of(const Scenario& scenario);

/// Parameters of a stage on one rank. A tied head in another stage than the embedding is a copy.
struct StageParameters {
  double layers = 0; // how many
  Held in_layers;
  double embedding = 0, head = 0;
  [[nodiscard]] Held all() const { return in_layers + Held{embedding + head, 0.0}; }
  [[nodiscard]] double total() const { return all().total(); }
};
[[nodiscard]] StageParameters parameters_of(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] StageParameters parameters_of(const Scenario& scenario, const Stage& stage);

/// Whether first and last stage must add up the gradients of one table.
[[nodiscard]] bool shares_embedding(const Scenario& scenario);

} // namespace clustersim
