#include "plan/serving_program.hpp"

#include "plan/head.hpp"
#include "plan/layer.hpp"
#include "plan/passes.hpp"

#include <algorithm>
#include <array>

namespace clustersim {

namespace {

/// One pass of some tokens through the model.
struct Pass {
  std::int64_t sequences = 1;
  std::int64_t queries = 1; // new tokens of each
  std::int64_t keys = 1;    // with those before them
  bool decode = false;
  bool head = true; // ends in a token
};

using Kinds = std::array<std::int64_t, layer_kinds.size()>;

Kinds kinds_of(const Scenario& scenario, Part part) {
  const std::vector<Stage> stages = stages_of(scenario);
  if (part == Part::last_stage) return stages.back().front().kinds;
  Kinds all{};
  for (const Stage& stage : stages) {
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] += stage.front().kinds[i];
  }
  return all;
}

Block send(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  builder.collective("send to next stage", to_next_stage(scenario, hidden_payload(shard)),
                     Lane::pipeline, 0.0);
  return builder.finish("send");
}

/// Which keys a window hides follows from their number, so each pass has layers of its own.
Item add_pass(ProgramWriter& writer, const Scenario& scenario, const Pass& pass, Part part) {
  Scenario now = scenario;
  now.training.sequence = pass.keys;
  Shard shard = shard_of(now);
  shard.decode = pass.decode;
  shard.batch = pass.sequences;
  shard.sequence = pass.keys;
  shard.queries = pass.queries;
  set_tokens(shard, pass.sequences * pass.queries);

  const bool whole = part == Part::all_stages;
  std::vector<Item> items;
  if (whole) items.push_back(writer.add(embedding_forward(now, shard)));
  const Kinds kinds = kinds_of(now, part);
  for (const LayerKind kind : layer_kinds) {
    const std::int64_t count = kinds[static_cast<std::size_t>(kind)];
    if (count > 0)
      items.push_back(times(writer.add(layer_forward(now, shard, kind, WeightUse::frozen)), count));
  }
  const std::int64_t sends = whole ? scenario.plan.pipeline - 1 : 1;
  if (scenario.plan.pipeline > 1) items.push_back(times(writer.add(send(now, shard)), sends));
  if (pass.head) {
    Shard last = shard; // the next token follows from the last one alone
    last.queries = 1;
    set_tokens(last, pass.sequences);
    items.push_back(writer.add(head_forward(now, last)));
  }
  return writer.add(items);
}

StepProgram finish(ProgramWriter& writer, const Scenario& scenario,
                   const std::vector<Item>& items) {
  const Item all = writer.add(items);
  const std::int64_t ranks = std::int64_t{scenario.plan.tensor} * scenario.plan.data;
  writer.add_class({.name = "all ranks", .ranks = ranks, .sequence = all.index});
  return writer.finish();
}

} // namespace

ServingSplit split_of(const Scenario& scenario, std::int64_t batch) {
  const std::int64_t pieces = std::min<std::int64_t>(scenario.plan.pipeline, batch);
  return {.micro_batches = pieces, .sequences = (batch + pieces - 1) / pieces};
}

StepProgram prefill_program(const Scenario& scenario, std::int64_t sequences, Part part) {
  const Inference& serving = scenario.inference;
  ProgramWriter writer;
  std::vector<Item> items;
  if (serving.prompt > serving.chunk) {
    for (std::int64_t done = 0; done < serving.prompt; done += serving.chunk) {
      const std::int64_t queries = std::min(serving.chunk, serving.prompt - done);
      const bool last = done + queries == serving.prompt;
      const Pass pass{.queries = queries, .keys = done + queries, .head = last};
      items.push_back(times(add_pass(writer, scenario, pass, part), sequences));
    }
    return finish(writer, scenario, items);
  }
  const std::int64_t together = std::min(sequences, serving.chunk / serving.prompt);
  const auto add = [&](std::int64_t count, std::int64_t each) {
    const Pass pass{.sequences = each, .queries = serving.prompt, .keys = serving.prompt};
    items.push_back(times(add_pass(writer, scenario, pass, part), count));
  };
  add(sequences / together, together);
  if (sequences % together > 0) add(1, sequences % together);
  return finish(writer, scenario, items);
}

StepProgram decode_program(const Scenario& scenario, std::int64_t sequences, std::int64_t context,
                           Part part) {
  ProgramWriter writer;
  const Pass pass{.sequences = sequences, .keys = context, .decode = true};
  const Item step = add_pass(writer, scenario, pass, part);
  return finish(writer, scenario, {step});
}

} // namespace clustersim
