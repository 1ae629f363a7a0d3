#pragma once
// Passes of one micro-batch through a chunk of layers, as sequences of the step program: plain,
// gathering parameters on the way, reducing gradients on the way (docs/explanation/lowering.md).

#include "plan/block_builder.hpp"
#include "plan/stage.hpp"

#include <array>
#include <utility>
#include <vector>

namespace clustersim {

/// The program while it is written: blocks and sequences get their index when added.
class ProgramWriter {
public:
  [[nodiscard]] Item add(Block block);
  [[nodiscard]] Item add(const std::vector<Item>& items); // those with a count above 0
  void add_class(RankClass rank_class) { program_.classes.push_back(std::move(rank_class)); }
  void set_pipeline(const PipelineSchedule& schedule) { program_.pipeline = schedule; }
  [[nodiscard]] StepProgram finish() { return std::move(program_); }

private:
  StepProgram program_;
};

[[nodiscard]] Item times(Item item, std::int64_t count);

/// Blocks of one part of a backward pass.
struct BackwardBlocks {
  Item head, embedding;
  std::array<Item, layer_kinds.size()> layer; // by kind, with the plan's recompute
  std::array<Item, layer_kinds.size()> plain; // those that a block method leaves alone
  Item decoder_entry, prediction;             // prediction: all modules
};

class Passes {
public:
  Passes(ProgramWriter& writer, const Scenario& scenario, const Shard& shard);

  [[nodiscard]] Item forward(const Chunk& chunk, bool gathers);
  [[nodiscard]] Item backward(const Chunk& chunk, BackwardPart part, bool reduces);
  /// Single blocks of these passes.
  [[nodiscard]] Item head_alone() const { return head_forward_; }
  [[nodiscard]] Item head_back_alone(BackwardPart part) { return blocks(part).head; }
  [[nodiscard]] Item layer_alone(LayerKind kind) const { return forward_of(kind); }
  [[nodiscard]] Item layer_back_alone(LayerKind kind, BackwardPart part) {
    return blocks(part).layer[static_cast<std::size_t>(kind)];
  }
  /// A pipeline stage: its passes, what precedes them, and before `update` what nothing hides.
  [[nodiscard]] RankClass of_stage(const Stage& stage, Item update);

private:
  [[nodiscard]] const BackwardBlocks& blocks(BackwardPart part);
  [[nodiscard]] Item gather(const char* name, Held bytes, double hidden);
  [[nodiscard]] Item forward_layers(const Chunk& chunk, LayerKind kind, bool frozen) const;
  [[nodiscard]] Item reduction(const char* name, Held parameters, int calls);
  [[nodiscard]] ChunkPasses of_chunk(const Stage& stage, std::size_t index);
  [[nodiscard]] Item first_forward(const Stage& stage, std::size_t index);
  [[nodiscard]] Item chunk_gather(const Chunk& chunk);
  [[nodiscard]] Item chunk_reduction(const Chunk& chunk);
  [[nodiscard]] const Item& forward_of(LayerKind kind) const {
    return layer_forward_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::vector<Item> layers_backward(const Chunk& chunk, LayerKind kind,
                                                  BackwardPart part);
  void add_layer_blocks();
  void add_end_blocks();
  /// A chunk's layers of a kind, and before the first of a decoder what leads into it.
  void lead_in(std::vector<Item>& items, const Chunk& chunk, LayerKind kind);
  void lead_out(std::vector<Item>& items, const Chunk& chunk, LayerKind kind, BackwardPart part);
  void run_head(std::vector<Item>& items, const Chunk& chunk);
  [[nodiscard]] bool predicts_more(const Chunk& chunk) const {
    return chunk.head && scenario_->model.mtp_layers > 0;
  }
  void gather_and_run_layers(std::vector<Item>& items, const Item& layers, Held each);
  void run_and_reduce_layers(std::vector<Item>& items, LayerKind kind, Item layers);
  void run_backward(std::vector<Item>& items, const Chunk& chunk, BackwardPart part);
  void gather_and_run(std::vector<Item>& items, const Chunk& chunk);
  void run_and_reduce(std::vector<Item>& items, const Chunk& chunk, BackwardPart part);
  void gather_run_reduce(std::vector<Item>& items, const Chunk& chunk, BackwardPart part,
                         bool reduces);

  ProgramWriter* writer_;
  const Scenario* scenario_;
  const Shard* shard_;
  Item embedding_forward_, head_forward_, join_, send_forward_, send_backward_;
  Item send_forward_in_decoder_, send_backward_in_decoder_;
  Item decoder_entry_forward_, prediction_forward_;
  std::array<Item, layer_kinds.size()> layer_forward_;  // by kind
  std::array<Item, layer_kinds.size()> frozen_forward_; // those that no gradient reaches
  std::vector<BackwardBlocks> backward_;                // by part
  bool pipelined_;
};

} // namespace clustersim
