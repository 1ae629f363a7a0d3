#include "plan/passes.hpp"

#include "plan/head.hpp"
#include "plan/layer.hpp"
#include "plan/reduction.hpp"

#include <algorithm>
#include <utility>

namespace clustersim {

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

Passes::Passes(ProgramWriter& writer, const Scenario& scenario, const Shard& shard)
    : writer_(&writer), scenario_(&scenario), shard_(&shard),
      embedding_forward_(writer.add(embedding_forward(scenario, shard))),
      layer_forward_(writer.add(layer_forward(scenario, shard))),
      head_forward_(writer.add(head_forward(scenario, shard))),
      join_(writer.add(join_data(scenario, shard))), pipelined_(scenario.plan.pipeline > 1) {
  const bool split = pipelined_ && splits_backward(scenario.plan.schedule);
  std::vector<BackwardPart> parts{BackwardPart::whole};
  if (split) parts.insert(parts.end(), {BackwardPart::inputs, BackwardPart::weights});
  for (const BackwardPart part : parts) {
    backward_.push_back({writer.add(head_backward(scenario, shard, part)),
                         writer.add(layer_backward(scenario, shard, part)),
                         writer.add(embedding_backward(scenario, shard, part))});
  }
  if (pipelined_) {
    send_forward_ = writer.add(stage_send(scenario, shard, Phase::forward));
    send_backward_ = writer.add(stage_send(scenario, shard, Phase::backward));
  }
}

const BackwardBlocks& Passes::blocks(BackwardPart part) {
  return backward_.at(static_cast<std::size_t>(part));
}

Item Passes::gather(const char* name, double parameters, double hidden) {
  return writer_->add(parameter_gather(*scenario_, *shard_, name, parameters, hidden));
}

Item Passes::reduction(const char* name, double parameters, int calls) {
  return writer_->add(gradient_reduction(*scenario_, *shard_, name,
                                         parameters * gradient_element(*scenario_), calls));
}

/// While one group of layers runs, the parameters of the next are gathered. Embedding and head go
/// by themselves, behind nothing.
void Passes::gather_and_run(std::vector<Item>& items, const Chunk& chunk) {
  const StageParameters held = parameters_of(*scenario_, chunk);
  const double per_layer = local_parameters(*scenario_).per_layer;
  const double hidden = gather_overlap(*scenario_);
  const Buckets cut =
      gather_units(*scenario_, chunk.layers, per_layer * weight_element(*scenario_));
  if (chunk.embedding) {
    items.push_back(gather("embedding gather", held.embedding, 0.0));
    items.push_back(embedding_forward_);
  }
  const double group_size = static_cast<double>(cut.layers_per_group);
  const Item group = writer_->add({gather("layer gather", group_size * per_layer, hidden),
                                   times(layer_forward_, cut.layers_per_group), join_});
  items.push_back(times(group, cut.groups));
  if (cut.rest > 0) {
    items.push_back(
        gather("last layers' gather", static_cast<double>(cut.rest) * per_layer, hidden));
    items.push_back(times(layer_forward_, cut.rest));
    items.push_back(join_);
  }
  if (chunk.head) {
    items.push_back(gather("head gather", held.head, 0.0));
    items.push_back(head_forward_);
  }
}

Item Passes::forward(const Chunk& chunk, bool gathers) {
  std::vector<Item> items;
  if (gathers) {
    gather_and_run(items, chunk);
  } else {
    if (chunk.embedding) items.push_back(embedding_forward_);
    items.push_back(times(layer_forward_, chunk.layers));
    if (chunk.head) items.push_back(head_forward_);
  }
  if (pipelined_ && !chunk.head) items.push_back(send_forward_);
  return writer_->add(items);
}

/// Gradients are reduced as they become final: each bucket goes out on the data lane after the
/// layers that fill it.
void Passes::run_and_reduce(std::vector<Item>& items, const Chunk& chunk, BackwardPart part) {
  const StageParameters held = parameters_of(*scenario_, chunk);
  const BackwardBlocks& run = blocks(part);
  const Bytes element = gradient_element(*scenario_);
  const Bytes bucket = bucket_size(*scenario_);
  const double per_layer = local_parameters(*scenario_).per_layer;
  const Buckets cut = cut_into_buckets(chunk.layers, per_layer * element, bucket);
  const auto reduce_alone = [&](const char* name, double parameters) {
    items.push_back(reduction(name, parameters, calls_of(parameters * element, bucket)));
  };

  if (chunk.head) items.push_back(run.head);
  if (chunk.head && held.head > 0.0) reduce_alone("head reduction", held.head);
  const Item group = writer_->add(
      {times(run.layer, cut.layers_per_group),
       reduction("layer reduction", static_cast<double>(cut.layers_per_group) * per_layer,
                 cut.calls_per_group)});
  items.push_back(times(group, cut.groups));
  if (cut.rest > 0) {
    items.push_back(times(run.layer, cut.rest));
    items.push_back(
        reduction("last layers' reduction", static_cast<double>(cut.rest) * per_layer, 1));
  }
  if (chunk.embedding) {
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
  const double per_layer = local_parameters(*scenario_).per_layer;
  if (chunk.head) items.push_back(run.head);
  if (chunk.head && reduces && held.head > 0.0) {
    items.push_back(reduction("head reduction", held.head, 1));
  }
  std::vector<Item> layer{gather("layer gather in backward", per_layer, gather_overlap(*scenario_)),
                          run.layer, join_};
  if (reduces) layer.push_back(reduction("layer reduction", per_layer, 1));
  items.push_back(times(writer_->add(layer), chunk.layers));
  if (chunk.embedding) items.push_back(run.embedding);
  if (chunk.embedding && reduces) {
    items.push_back(reduction("embedding reduction", held.embedding, 1));
  }
}

Item Passes::backward(const Chunk& chunk, BackwardPart part, bool reduces) {
  std::vector<Item> items;
  const bool gathers = scenario_->plan.zero == 3 && reduces_gradients(*scenario_);
  if (gathers && part != BackwardPart::weights) {
    gather_run_reduce(items, chunk, part, reduces);
  } else if (reduces) {
    run_and_reduce(items, chunk, part);
  } else {
    const BackwardBlocks& run = blocks(part);
    if (chunk.head) items.push_back(run.head);
    items.push_back(times(run.layer, chunk.layers));
    if (chunk.embedding) items.push_back(run.embedding);
  }
  if (pipelined_ && !chunk.embedding && part != BackwardPart::weights) {
    items.push_back(send_backward_);
  }
  return writer_->add(items);
}

ChunkPasses Passes::of_chunk(const Chunk& chunk) {
  const bool reduces = reduces_gradients(*scenario_);
  const bool always = reduces && reduces_every_micro_batch(*scenario_);
  const bool gathers = gathers_always(*scenario_);
  ChunkPasses out;
  out.forward = forward(chunk, gathers).index;
  out.first_forward = gathers_in_forward(*scenario_) ? forward(chunk, true).index : out.forward;
  out.backward = backward(chunk, BackwardPart::whole, always).index;
  out.last_backward =
      reduces && !always ? backward(chunk, BackwardPart::whole, true).index : out.backward;
  if (splits_backward(scenario_->plan.schedule)) {
    out.input_gradient = backward(chunk, BackwardPart::inputs, false).index;
    out.weight_gradient = backward(chunk, BackwardPart::weights, always).index;
    out.last_weight_gradient = reduces && !always
                                   ? backward(chunk, BackwardPart::weights, true).index
                                   : out.weight_gradient;
  }
  return out;
}

} // namespace clustersim
