#include "plan/lower.hpp"

#include "base/bug.hpp"
#include "plan/head.hpp"
#include "plan/layer.hpp"
#include "plan/reduction.hpp"

#include <utility>

namespace clustersim {

namespace {

/// The program while it is written: blocks and sequences get their index when added.
class ProgramWriter {
public:
  [[nodiscard]] Item add(Block block) {
    program_.blocks.push_back(std::move(block));
    return {.what = Item::What::block, .index = program_.blocks.size() - 1, .count = 1};
  }
  [[nodiscard]] Item add(const std::vector<Item>& items) {
    Sequence sequence;
    for (const Item& item : items) {
      if (item.count > 0) sequence.items.push_back(item);
    }
    program_.sequences.push_back(std::move(sequence));
    return {.what = Item::What::sequence, .index = program_.sequences.size() - 1, .count = 1};
  }
  [[nodiscard]] StepProgram finish(RankClass rank_class, Item step) {
    rank_class.sequence = step.index;
    program_.classes.push_back(std::move(rank_class));
    return std::move(program_);
  }

private:
  StepProgram program_;
};

Item times(Item item, std::int64_t count) {
  item.count = count;
  return item;
}

struct LayerPasses {
  Item embedding_forward, layer_forward, head_forward;
  Item head_backward, layer_backward, embedding_backward;
};

/// The backward pass whose gradients are reduced as they become final: each bucket goes out on the
/// data lane after the layers that fill it.
Item reducing_backward(ProgramWriter& writer, const Scenario& scenario, const Shard& shard,
                       const LayerPasses& passes) {
  const LocalParameters local = local_parameters(scenario);
  const Bytes element = gradient_element(scenario);
  const Bytes bucket = bucket_size(scenario);
  const Bytes layer = local.per_layer * element;
  const Buckets cut = cut_into_buckets(scenario.model.layers, layer, bucket);
  const auto reduction = [&](const char* name, Bytes bytes, int calls) {
    return writer.add(gradient_reduction(scenario, shard, name, bytes, calls));
  };

  std::vector<Item> items{passes.head_backward};
  const Bytes head = local.head * element;
  if (head > Bytes{0}) items.push_back(reduction("head reduction", head, calls_of(head, bucket)));
  const Item group =
      writer.add({times(passes.layer_backward, cut.layers_per_group),
                  reduction("layer reduction", static_cast<double>(cut.layers_per_group) * layer,
                            cut.calls_per_group)});
  items.push_back(times(group, cut.groups));
  if (cut.rest > 0) {
    items.push_back(times(passes.layer_backward, cut.rest));
    items.push_back(reduction("last layers' reduction", static_cast<double>(cut.rest) * layer, 1));
  }
  const Bytes embedding = local.embedding * element;
  items.push_back(passes.embedding_backward);
  items.push_back(reduction("embedding reduction", embedding, calls_of(embedding, bucket)));
  items.push_back(writer.add(join_data(scenario, shard)));
  return writer.add(items);
}

/// The first forward pass of a step under ZeRO-1 with hidden gathers: while one group of layers
/// runs, the parameters of the next are gathered. Embedding and head go first, behind nothing.
Item gathering_forward(ProgramWriter& writer, const Scenario& scenario, const Shard& shard,
                       const LayerPasses& passes) {
  const LocalParameters local = local_parameters(scenario);
  const double hidden = scenario.training.stack.overlap.gather;
  const Buckets cut = cut_into_buckets(
      scenario.model.layers, local.per_layer * weight_element(scenario), bucket_size(scenario));
  const Item join = writer.add(join_data(scenario, shard));
  const auto gather = [&](const char* name, double parameters, double share) {
    return writer.add(parameter_gather(scenario, shard, name, parameters, share));
  };

  std::vector<Item> items{gather("embedding gather", local.embedding, 0.0),
                          passes.embedding_forward};
  const Item group = writer.add(
      {gather("layer gather", static_cast<double>(cut.layers_per_group) * local.per_layer, hidden),
       times(passes.layer_forward, cut.layers_per_group), join});
  items.push_back(times(group, cut.groups));
  if (cut.rest > 0) {
    items.push_back(
        gather("last layers' gather", static_cast<double>(cut.rest) * local.per_layer, hidden));
    items.push_back(times(passes.layer_forward, cut.rest));
    items.push_back(join);
  }
  items.push_back(gather("head gather", local.head, 0.0));
  items.push_back(passes.head_forward);
  return writer.add(items);
}

/// m micro-batches: all but the last alike, except that the first may gather parameters.
Item step_sequence(ProgramWriter& writer, const Scenario& scenario, const Shard& shard,
                   const LayerPasses& passes) {
  const std::int64_t layers = scenario.model.layers;
  const std::int64_t micro_batches = scenario.micro_batches();
  const Item forward = writer.add(
      {passes.embedding_forward, times(passes.layer_forward, layers), passes.head_forward});
  const Item backward = writer.add(
      {passes.head_backward, times(passes.layer_backward, layers), passes.embedding_backward});
  const Item middle = writer.add({forward, backward});
  const Item update = writer.add(optimizer(scenario, shard));
  if (!reduces_gradients(scenario)) return writer.add({times(middle, micro_batches), update});

  const Item last = reducing_backward(writer, scenario, shard, passes);
  const Item first =
      gathers_in_forward(scenario) ? gathering_forward(writer, scenario, shard, passes) : forward;
  if (micro_batches == 1) return writer.add({first, last, update});
  return writer.add({first, backward, times(middle, micro_batches - 2), forward, last, update});
}

void check_supported(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  if (plan.pipeline != 1 || plan.context != 1 || plan.expert != 1 || plan.zero > 1) {
    throw Bug("lowering knows data (ZeRO 0 and 1) and tensor parallelism; validation lets no other "
              "plan through");
  }
  if (plan.tensor < 1 || plan.data < 1 || scenario.micro_batches() < 1) {
    throw Bug("a plan without ranks or micro-batches");
  }
}

} // namespace

StepProgram lower(const Scenario& scenario) {
  check_supported(scenario);
  const Shard shard = shard_of(scenario);
  ProgramWriter writer;
  const LayerPasses passes{.embedding_forward = writer.add(embedding_forward(scenario, shard)),
                           .layer_forward = writer.add(layer_forward(scenario, shard)),
                           .head_forward = writer.add(head_forward(scenario, shard)),
                           .head_backward = writer.add(head_backward(scenario, shard)),
                           .layer_backward = writer.add(layer_backward(scenario, shard)),
                           .embedding_backward = writer.add(embedding_backward(scenario, shard))};
  const Item step = step_sequence(writer, scenario, shard, passes);
  const std::int64_t ranks = static_cast<std::int64_t>(scenario.plan.tensor) * scenario.plan.data;
  return writer.finish({.name = "all ranks", .ranks = ranks, .sequence = 0}, step);
}

} // namespace clustersim
