#include "plan/lower.hpp"

#include "base/bug.hpp"
#include "plan/optimizer.hpp"
#include "plan/passes.hpp"
#include "plan/reduction.hpp"
#include "spec/validate_plan.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

namespace clustersim {

namespace {

/// m micro-batches: all but the last alike, except that the first may gather parameters.
Item step_sequence(ProgramWriter& writer, Passes& passes, const Scenario& scenario, Item update) {
  const Chunk chunk = stages_of(scenario).front().front();
  const std::int64_t micro_batches = scenario.micro_batches();
  const bool reduces = reduces_gradients(scenario);
  const bool always = reduces && reduces_every_micro_batch(scenario);
  const Item forward = passes.forward(chunk, gathers_always(scenario));
  const Item backward = passes.backward(chunk, BackwardPart::whole, always);
  const Item middle = writer.add({forward, backward});
  if (!reduces) return writer.add({times(middle, micro_batches), update});

  const Item last = always ? backward : passes.backward(chunk, BackwardPart::whole, true);
  const Item first = gathers_in_forward(scenario) ? passes.forward(chunk, true) : forward;
  if (micro_batches == 1) return writer.add({first, last, update});
  return writer.add({first, backward, times(middle, micro_batches - 2), forward, last, update});
}

/// Of its layers, when all are of one kind.
std::optional<LayerKind> only_kind(const Chunk& chunk) {
  for (const LayerKind kind : layer_kinds) {
    if (layers_of(chunk, kind) == chunk.layers) return kind;
  }
  return std::nullopt;
}

void check(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  if (plan.tensor < 1 || plan.data < 1 || plan.pipeline < 1 || plan.context < 1 ||
      scenario.micro_batches() < 1) {
    throw Bug("a plan without ranks or micro-batches");
  }
  for (const PlanFault& fault : plan_faults(scenario))
    throw Bug("lowering got a plan that validation refuses: " + fault.message);
}

} // namespace

StepProgram lower(const Scenario& scenario) {
  check(scenario);
  const Shard shard = shard_of(scenario);
  ProgramWriter writer;
  Passes passes(writer, scenario, shard);
  const std::int64_t per_stage =
      std::int64_t{scenario.plan.tensor} * scenario.plan.context * scenario.plan.data;
  const std::vector<Stage> stages = stages_of(scenario);
  const auto update_of = [&](const Stage& stage) {
    std::vector<Item> items;
    if (reduces_gradients(scenario)) items.push_back(writer.add(join_data(scenario, shard)));
    for (Repeated& part : orthogonalisation(scenario, shard, stage)) {
      if (!part.block.ops.empty())
        items.push_back(times(writer.add(std::move(part.block)), part.count));
    }
    items.push_back(writer.add(optimizer(scenario, shard, stage)));
    return writer.add(items);
  };

  if (scenario.plan.pipeline == 1) {
    const Item step = step_sequence(writer, passes, scenario, update_of(stages.front()));
    writer.add_class({.name = "all ranks", .ranks = per_stage, .sequence = step.index});
    return writer.finish();
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    RankClass one = passes.of_stage(stages[i], update_of(stages[i]));
    one.name = fmt::format("stage {}", i);
    one.ranks = per_stage;
    writer.add_class(std::move(one));
  }
  writer.set_pipeline(*schedule_of(scenario));
  return writer.finish();
}

StepProgram lower_one_micro_batch(const Scenario& scenario) {
  const Shard shard = shard_of(scenario);
  ProgramWriter writer;
  Passes passes(writer, scenario, shard);
  std::vector<BackwardPart> parts{BackwardPart::whole};
  if (splits_backward(scenario.plan.schedule))
    parts = {BackwardPart::inputs, BackwardPart::weights};
  const Chunk chunk = whole_model(scenario);
  std::vector<Item> whole{passes.forward(chunk, false)}, layer, head{passes.head_alone()};
  const std::optional<LayerKind> kind = only_kind(chunk);
  if (kind) layer.push_back(passes.layer_alone(*kind));
  const Item layer_forward = writer.add(layer);
  for (const BackwardPart part : parts) {
    whole.push_back(passes.backward(chunk, part, false));
    head.push_back(passes.head_back_alone(part));
    if (kind) layer.push_back(passes.layer_back_alone(*kind, part));
  }
  for (const Item& item : {writer.add(whole), writer.add(layer), layer_forward, writer.add(head)})
    writer.add_class({.name = "one micro-batch", .ranks = 1, .sequence = item.index});
  return writer.finish();
}

StepProgram before_update(StepProgram program) {
  for (RankClass& one : program.classes) {
    Sequence shorter = program.sequences[one.sequence];
    if (!shorter.items.empty()) shorter.items.pop_back(); // the update ends every class's sequence
    program.sequences.push_back(std::move(shorter));
    one.sequence = program.sequences.size() - 1;
  }
  return program;
}

} // namespace clustersim
