#pragma once
// Which layers a pipeline stage holds (docs/explanation/pipeline.md). Without a pipeline there is
// one stage with one chunk that holds all.

#include "plan/schedule.hpp"
#include "plan/shard.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace clustersim {

/// Consecutive layers on one stage, with the embedding before them or the head after them. An
/// encoder's layers come before its decoder's.
struct Chunk {
  std::int64_t layers = 0;                              // all
  std::array<std::int64_t, layer_kinds.size()> kinds{}; // of them, by kind
  bool embedding = false, head = false;
  bool decoder_entry = false; // the encoder ends and its decoder begins
  std::array<std::int64_t, layer_kinds.size()> recomputed{}; // those that recompute is for
  std::array<std::int64_t, layer_kinds.size()> frozen{};     // those that no gradient reaches
};

[[nodiscard]] std::int64_t layers_of(const Chunk& chunk, LayerKind kind);
[[nodiscard]] std::int64_t recomputed_of(const Chunk& chunk, LayerKind kind);
[[nodiscard]] std::int64_t frozen_of(const Chunk& chunk, LayerKind kind);

using Stage = std::vector<Chunk>;

/// Nothing without a pipeline.
[[nodiscard]] std::optional<PipelineSchedule> schedule_of(const Scenario& scenario);

/// Layers of each place, first to last: as even as they go. Places in the middle take what is left
/// over, since embedding and head burden the ends.
[[nodiscard]] std::vector<std::int64_t> share_layers(std::int64_t layers, std::int64_t places,
                                                     bool ends_as_layers);

/// On one stage.
[[nodiscard]] Chunk whole_model(const Scenario& scenario);
[[nodiscard]] std::vector<Stage> stages_of(const Scenario& scenario);

/// Parameters of a stage on one rank. A table that another stage than
/// the first needs is a copy, counted with the head.
struct StageParameters {
  double layers = 0; // how many
  Held in_layers;
  Held prediction; // multi-token prediction modules, behind the head
  double embedding = 0, head = 0;
  [[nodiscard]] Held all() const { return in_layers + prediction + Held{embedding + head, 0.0}; }
  [[nodiscard]] double total() const { return all().total(); }
};
[[nodiscard]] StageParameters parameters_of(const Scenario& scenario, const Chunk& chunk);
[[nodiscard]] StageParameters parameters_of(const Scenario& scenario, const Stage& stage);

/// Whether this stage of a pipeline has a copy of the token table whose gradient others add to: a
/// tied head, a decoder's or a prediction module's embedding.
[[nodiscard]] bool shares_embedding(const Scenario& scenario, const Stage& stage);

} // namespace clustersim
