#include "plan/passes.hpp"

#include "plan/head.hpp"
#include "plan/layer.hpp"
#include "plan/reduction.hpp"
#include "plan/trained.hpp"

#include <algorithm>
#include <utility>

namespace clustersim {

namespace {

/// Backward meets a decoder's layers first.
constexpr std::array backward_kinds{LayerKind::cross, LayerKind::experts, LayerKind::window_experts,
                                    LayerKind::dense, LayerKind::window_dense};

} // namespace

Item ProgramWriter::add(Block block) {
  program_.blocks.push_back(std::move(block));
  return {.what = Item::What::block, .index = program_.blocks.size() - 1, .count = 1};
}

Item ProgramWriter::add(const std::vector<Item>& items) {
  Sequence sequence;
  for (const Item& item : items) {
    if (item.count > 0) sequence.items.push_back(item);
  }
  program_.sequences.push_back(std::move(sequence));
  return {.what = Item::What::sequence, .index = program_.sequences.size() - 1, .count = 1};
}

Item times(Item item, std::int64_t count) {
  item.count = count;
  return item;
}

namespace {
bool some_layers_are_kept(const Scenario& scenario) {
  return scenario.plan.recompute == Recompute::full &&
         scenario.plan.recompute_method == RecomputeMethod::block;
}

} // namespace

Passes::Passes(ProgramWriter& writer, const Scenario& scenario, const Shard& shard)
    : writer_(&writer), scenario_(&scenario), shard_(&shard),
      embedding_forward_(writer.add(embedding_forward(scenario, shard))),
      head_forward_(writer.add(head_forward(scenario, shard))),
      join_(writer.add(join_data(scenario, shard))), pipelined_(scenario.plan.pipeline > 1) {
  add_layer_blocks();
  add_end_blocks();
  if (!pipelined_) return;
  send_forward_ = writer.add(stage_send(scenario, shard, Phase::forward, false));
  send_backward_ = writer.add(stage_send(scenario, shard, Phase::backward, false));
  if (scenario.model.decoder_layers > 0) {
    send_forward_in_decoder_ = writer.add(stage_send(scenario, shard, Phase::forward, true));
    send_backward_in_decoder_ = writer.add(stage_send(scenario, shard, Phase::backward, true));
  }
}

void Passes::add_layer_blocks() {
  const bool split = splits_backward(scenario_->plan.schedule);
  std::vector<BackwardPart> parts{BackwardPart::whole};
  if (split) parts.insert(parts.end(), {BackwardPart::inputs, BackwardPart::weights});
  std::array<bool, layer_kinds.size()> present{};
  for (const Stage& stage : stages_of(*scenario_)) {
    for (const Chunk& chunk : stage) {
      for (const LayerKind kind : layer_kinds)
        present[static_cast<std::size_t>(kind)] |= layers_of(chunk, kind) > 0;
    }
  }
  for (const LayerKind kind : layer_kinds) {
    if (present[static_cast<std::size_t>(kind)]) {
      const auto index = static_cast<std::size_t>(kind);
      const WeightUse use = layer_weights(*scenario_);
      layer_forward_[index] = writer_->add(layer_forward(*scenario_, *shard_, kind, use));
      frozen_forward_[index] =
          scenario_->training.tuning.frozen_layers > 0
              ? writer_->add(layer_forward(*scenario_, *shard_, kind, WeightUse::frozen))
              : layer_forward_[index];
    }
  }
  for (const BackwardPart part : parts) {
    BackwardBlocks& run = backward_.emplace_back();
    run.head = writer_->add(head_backward(*scenario_, *shard_, part));
    run.embedding = writer_->add(embedding_backward(*scenario_, *shard_, part));
    const auto layer = [&](LayerKind kind, Recompute recompute) {
      return writer_->add(layer_backward(*scenario_, *shard_, part, kind, recompute));
    };
    for (const LayerKind kind : layer_kinds) {
      const auto index = static_cast<std::size_t>(kind);
      if (!present[index]) continue;
      run.layer[index] = layer(kind, scenario_->plan.recompute);
      run.plain[index] =
          some_layers_are_kept(*scenario_) ? layer(kind, Recompute::none) : run.layer[index];
    }
  }
}

/// What leads into a decoder, and prediction modules, each with a layer like the last and the head.
void Passes::add_end_blocks() {
  const Transformer& model = scenario_->model;
  const LayerKind last = kind_of(*scenario_, model.layers - 1);
  if (model.decoder_layers > 0) {
    decoder_entry_forward_ = writer_->add(decoder_entry_forward(*scenario_, *shard_));
  }
  if (model.mtp_layers > 0) {
    prediction_forward_ =
        times(writer_->add({writer_->add(prediction_entry_forward(*scenario_, *shard_)),
                            forward_of(last), head_forward_}),
              model.mtp_layers);
  }
  for (std::size_t i = 0; i < backward_.size(); ++i) {
    const auto part = static_cast<BackwardPart>(i);
    BackwardBlocks& run = backward_[i];
    if (model.decoder_layers > 0) {
      run.decoder_entry = writer_->add(decoder_entry_backward(*scenario_, *shard_, part));
    }
    if (model.mtp_layers > 0) {
      const Item entry = writer_->add(prediction_entry_backward(*scenario_, *shard_, part));
      run.prediction =
          times(writer_->add({run.head, run.layer[static_cast<std::size_t>(last)], entry}),
                model.mtp_layers);
    }
  }
}

void Passes::lead_in(std::vector<Item>& items, const Chunk& chunk, LayerKind kind) {
  if (kind == LayerKind::cross && chunk.decoder_entry) items.push_back(decoder_entry_forward_);
}

void Passes::lead_out(std::vector<Item>& items, const Chunk& chunk, LayerKind kind,
                      BackwardPart part) {
  if (kind == LayerKind::cross && chunk.decoder_entry) {
    items.push_back(blocks(part).decoder_entry);
  }
}

void Passes::run_head(std::vector<Item>& items, const Chunk& chunk) {
  items.push_back(head_forward_);
  if (predicts_more(chunk)) items.push_back(prediction_forward_);
}

const BackwardBlocks& Passes::blocks(BackwardPart part) {
  return backward_.at(static_cast<std::size_t>(part));
}

Item Passes::gather(const char* name, Held bytes, double hidden) {
  return writer_->add(parameter_gather(*scenario_, *shard_, name, bytes, hidden));
}

Item Passes::reduction(const char* name, Held parameters, int calls) {
  return writer_->add(gradient_reduction(*scenario_, *shard_, name, parameters, calls));
}

/// While one group of layers runs, the parameters of the next are gathered.
void Passes::gather_and_run_layers(std::vector<Item>& items, const Item& layers, Held each) {
  const double hidden = gather_overlap(*scenario_);
  const Buckets cut = gather_units(*scenario_, layers.count, Bytes{each.total()});
  const Item group = writer_->add(
      {gather("layer gather", static_cast<double>(cut.layers_per_group) * each, hidden),
       times(layers, cut.layers_per_group), join_});
  items.push_back(times(group, cut.groups));
  if (cut.rest == 0) return;
  items.push_back(gather("last layers' gather", static_cast<double>(cut.rest) * each, hidden));
  items.push_back(times(layers, cut.rest));
  items.push_back(join_);
}

/// Embedding and head are gathered by themselves, behind nothing.
void Passes::gather_and_run(std::vector<Item>& items, const Chunk& chunk) {
  if (chunk.embedding) {
    items.push_back(gather("embedding gather", embedding_to_gather(*scenario_, chunk), 0.0));
    items.push_back(embedding_forward_);
  }
  for (const LayerKind kind : layer_kinds) {
    lead_in(items, chunk, kind);
    for (const bool frozen : {true, false}) {
      const Item layers = forward_layers(chunk, kind, frozen);
      if (layers.count == 0) continue;
      gather_and_run_layers(items, layers, layer_to_gather(*scenario_, kind, frozen));
    }
  }
  if (chunk.head) {
    items.push_back(gather("head gather", head_to_gather(*scenario_, chunk), 0.0));
    run_head(items, chunk);
  }
}

Item Passes::forward(const Chunk& chunk, bool gathers) {
  std::vector<Item> items;
  if (gathers) {
    gather_and_run(items, chunk);
  } else {
    if (chunk.embedding) items.push_back(embedding_forward_);
    for (const LayerKind kind : layer_kinds) {
      lead_in(items, chunk, kind);
      items.push_back(forward_layers(chunk, kind, true));
      items.push_back(forward_layers(chunk, kind, false));
    }
    if (chunk.head) run_head(items, chunk);
  }
  if (pipelined_ && !chunk.head) {
    const bool in_decoder = layers_of(chunk, LayerKind::cross) > 0;
    items.push_back(in_decoder ? send_forward_in_decoder_ : send_forward_);
  }
  return writer_->add(items);
}

/// Frozen layers come first, and run without adapters.
Item Passes::forward_layers(const Chunk& chunk, LayerKind kind, bool frozen) const {
  const std::int64_t still = frozen_of(chunk, kind);
  if (frozen) return times(frozen_forward_[static_cast<std::size_t>(kind)], still);
  return times(forward_of(kind), layers_of(chunk, kind) - still);
}

/// Last to first: those that run without recompute, then those with.
std::vector<Item> Passes::layers_backward(const Chunk& chunk, LayerKind kind, BackwardPart part) {
  const BackwardBlocks& run = blocks(part);
  const auto index = static_cast<std::size_t>(kind);
  const std::int64_t again = recomputed_of(chunk, kind);
  const std::int64_t trained = layers_of(chunk, kind) - frozen_of(chunk, kind);
  return {times(run.plain[index], trained - again), times(run.layer[index], again)};
}

/// Gradients are reduced as they become final: each bucket goes out on the data lane after the
/// layers that fill it.
void Passes::run_and_reduce_layers(std::vector<Item>& items, LayerKind kind, Item layers) {
  const Held each = trained_in_layer(*scenario_, kind).parameters;
  const Item run = times(layers, 1);
  const Buckets cut = cut_into_buckets(layers.count, each.total() * gradient_element(*scenario_),
                                       bucket_size(*scenario_));
  const Item group =
      writer_->add({times(run, cut.layers_per_group),
                    reduction("layer reduction", static_cast<double>(cut.layers_per_group) * each,
                              cut.calls_per_group)});
  items.push_back(times(group, cut.groups));
  if (cut.rest == 0) return;
  items.push_back(times(run, cut.rest));
  items.push_back(reduction("last layers' reduction", static_cast<double>(cut.rest) * each, 1));
}

void Passes::run_and_reduce(std::vector<Item>& items, const Chunk& chunk, BackwardPart part) {
  const StageParameters held = parameters_of(*scenario_, chunk);
  const BackwardBlocks& run = blocks(part);
  const auto reduce_alone = [&](const char* name, double parameters) {
    const Bytes bytes = parameters * gradient_element(*scenario_);
    items.push_back(reduction(name, {parameters, 0.0}, calls_of(bytes, bucket_size(*scenario_))));
  };
  if (predicts_more(chunk)) {
    items.push_back(run.prediction);
    const Bytes bytes = held.prediction.total() * gradient_element(*scenario_);
    items.push_back(reduction("prediction reduction", held.prediction,
                              calls_of(bytes, bucket_size(*scenario_))));
  }
  if (chunk.head) items.push_back(run.head);
  if (chunk.head && held.head > 0.0 && trains_head(*scenario_)) {
    reduce_alone("head reduction", held.head);
  }
  for (const LayerKind kind : backward_kinds) {
    for (const Item& layers : layers_backward(chunk, kind, part)) {
      if (layers.count > 0) run_and_reduce_layers(items, kind, layers);
    }
    lead_out(items, chunk, kind, part);
  }
  if (chunk.embedding && trains_embedding(*scenario_)) {
    items.push_back(run.embedding);
    reduce_alone("embedding reduction", held.embedding);
  }
}

/// ZeRO-3: a layer's weights are gathered again while the layer after it runs backward, and its
/// gradients are scattered as soon as they are there. Embedding and head stay gathered from
/// forward.
void Passes::gather_run_reduce(std::vector<Item>& items, const Chunk& chunk, BackwardPart part,
                               bool reduces) {
  const StageParameters held = parameters_of(*scenario_, chunk);
  const BackwardBlocks& run = blocks(part);
  if (predicts_more(chunk)) items.push_back(run.prediction);
  if (predicts_more(chunk) && reduces) {
    items.push_back(reduction("prediction reduction", held.prediction, 1));
  }
  if (chunk.head) items.push_back(run.head);
  if (chunk.head && reduces && held.head > 0.0 && trains_head(*scenario_)) {
    items.push_back(reduction("head reduction", {held.head, 0.0}, 1));
  }
  for (const LayerKind kind : backward_kinds) {
    if (layers_of(chunk, kind) == 0) continue;
    const Held whole = layer_to_gather(*scenario_, kind, false);
    const Held each = trained_in_layer(*scenario_, kind).parameters;
    for (const Item& layers : layers_backward(chunk, kind, part)) {
      if (layers.count == 0) continue;
      std::vector<Item> layer{gather("layer gather in backward", whole, gather_overlap(*scenario_)),
                              times(layers, 1), join_};
      if (reduces) layer.push_back(reduction("layer reduction", each, 1));
      items.push_back(times(writer_->add(layer), layers.count));
    }
    lead_out(items, chunk, kind, part); // a decoder that begins here has layers here
  }
  if (!chunk.embedding || !trains_embedding(*scenario_)) return;
  items.push_back(run.embedding);
  if (reduces) {
    items.push_back(reduction("embedding reduction", {held.embedding, 0.0}, 1));
  }
}

void Passes::run_backward(std::vector<Item>& items, const Chunk& chunk, BackwardPart part) {
  const BackwardBlocks& run = blocks(part);
  if (predicts_more(chunk)) items.push_back(run.prediction);
  if (chunk.head) items.push_back(run.head);
  for (const LayerKind kind : backward_kinds) {
    for (const Item& layers : layers_backward(chunk, kind, part))
      items.push_back(layers);
    lead_out(items, chunk, kind, part);
  }
  if (chunk.embedding && trains_embedding(*scenario_)) items.push_back(run.embedding);
}

Item Passes::chunk_gather(const Chunk& chunk) {
  return gather("parameter gather", chunk_to_gather(*scenario_, chunk), gather_overlap(*scenario_));
}

Item Passes::chunk_reduction(const Chunk& chunk) {
  const Held parameters = trained_in(*scenario_, chunk).parameters;
  const Bytes bytes = parameters.total() * gradient_element(*scenario_);
  return reduction("gradient reduction", parameters, calls_of(bytes, bucket_size(*scenario_)));
}

/// In a pipeline the neighbour gets its gradient first: reductions may wait, other stages may not.
Item Passes::backward(const Chunk& chunk, BackwardPart part, bool reduces) {
  std::vector<Item> items;
  const bool gathers = gathers_always(*scenario_) && part != BackwardPart::weights;
  const bool at_once = reduces && !pipelined_;
  if (gathers) {
    gather_run_reduce(items, chunk, part, at_once);
  } else if (at_once) {
    run_and_reduce(items, chunk, part);
  } else {
    run_backward(items, chunk, part);
  }
  if (pipelined_ && !chunk.embedding && part != BackwardPart::weights) {
    const bool in_decoder = layers_of(chunk, LayerKind::cross) > 0 && !chunk.decoder_entry;
    items.push_back(in_decoder ? send_backward_in_decoder_ : send_backward_);
  }
  if (reduces && pipelined_) items.push_back(chunk_reduction(chunk));
  return writer_->add(items);
}

/// Waits for its own parameters and starts to gather those of the chunk after it, which a stage
/// reaches several passes later.
Item Passes::first_forward(const Stage& stage, std::size_t index) {
  std::vector<Item> items{join_};
  if (index + 1 < stage.size()) items.push_back(chunk_gather(stage[index + 1]));
  items.push_back(forward(stage[index], false));
  return writer_->add(items);
}

ChunkPasses Passes::of_chunk(const Stage& stage, std::size_t index) {
  const Chunk& chunk = stage[index];
  const bool reduces = reduces_gradients(*scenario_) && hides_reduction(*scenario_);
  const bool always = reduces_gradients(*scenario_) && reduces_every_micro_batch(*scenario_);
  const bool last = reduces && !always;
  const bool gathers = gathers_always(*scenario_);
  ChunkPasses out;
  out.forward = forward(chunk, gathers).index;
  out.first_forward =
      gathers_in_forward(*scenario_) && !gathers ? first_forward(stage, index).index : out.forward;
  out.backward = backward(chunk, BackwardPart::whole, always).index;
  out.last_backward = last ? backward(chunk, BackwardPart::whole, true).index : out.backward;
  if (splits_backward(scenario_->plan.schedule)) {
    out.input_gradient = backward(chunk, BackwardPart::inputs, false).index;
    out.weight_gradient = backward(chunk, BackwardPart::weights, always).index;
    out.last_weight_gradient =
        last ? backward(chunk, BackwardPart::weights, true).index : out.weight_gradient;
  }
  return out;
}

RankClass Passes::of_stage(const Stage& stage, Item update) {
  RankClass out;
  for (std::size_t i = 0; i < stage.size(); ++i)
    out.chunks.push_back(of_chunk(stage, i));
  std::vector<Item> before, after;
  if (gathers_in_forward(*scenario_) && !gathers_always(*scenario_))
    before.push_back(chunk_gather(stage.front()));
  out.prologue = writer_->add(before).index;
  const bool late = reduces_gradients(*scenario_) && !hides_reduction(*scenario_) &&
                    !reduces_every_micro_batch(*scenario_);
  for (const Chunk& chunk : stage)
    if (late) after.push_back(chunk_reduction(chunk));
  after.push_back(update);
  out.sequence = writer_->add(after).index;
  return out;
}

} // namespace clustersim
