#include "plan/lower.hpp"

#include "base/bug.hpp"
#include "plan/optimizer.hpp"
#include "plan/passes.hpp"
#include "plan/reduction.hpp"
#include "spec/validate_plan.hpp"

#include <fmt/format.h>

#include <utility>

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

} // namespace clustersim
