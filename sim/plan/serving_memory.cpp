#include "plan/serving_memory.hpp"

#include "plan/experts.hpp"
#include "plan/key_value_cache.hpp"
#include "plan/memory_terms.hpp"
#include "plan/stage.hpp"

#include <algorithm>

namespace clustersim {

namespace {

/// `scenario` with sequences of this length, of which the kinds of layers follow.
Scenario at_length(const Scenario& scenario, std::int64_t tokens) {
  Scenario out = scenario;
  out.training.sequence = tokens;
  return out;
}

Bytes cache_of_stage(const Scenario& scenario, const Stage& stage, std::int64_t tokens) {
  const Shard shard = shard_of(scenario);
  Bytes all;
  for (const LayerKind kind : layer_kinds) {
    all += static_cast<double>(layers_of(stage.front(), kind)) *
           cached_by_layer(scenario, shard, kind, tokens);
  }
  return all;
}

/// Norms, tables and head stay in the activations' format, the layers' matrices are stored
/// narrower.
Bytes weights_of(const Scenario& scenario, const Stage& stage) {
  const StageParameters held = parameters_of(scenario, stage);
  const double norms = held.layers * local_parameters(scenario).layer_norms;
  const Bytes wide = shard_of(scenario).element;
  return (held.in_layers.total() - norms) * stored_weight(scenario.inference) +
         (norms + held.embedding + held.head) * wide;
}

/// Tokens of one pass: of prompts as many as fit in a chunk.
std::int64_t tokens_of_pass(const Scenario& scenario) {
  const Inference& serving = scenario.inference;
  if (serving.prompt >= serving.chunk) return serving.chunk;
  return std::max(serving.batch,
                  serving.prompt * std::min(serving.batch, serving.chunk / serving.prompt));
}

/// Residual stream and branch, and the widest pair of tensors between them; FP32 logits.
Bytes workspace_of(const Scenario& scenario) {
  const Shard shard = shard_of(scenario);
  const auto tokens = static_cast<double>(tokens_of_pass(scenario));
  const std::int64_t expert = scenario.model.moe.experts > 0
                                  ? scenario.model.moe.top_k * expert_shard(scenario, shard).up
                                  : 0;
  const std::int64_t widest =
      std::max({shard.qkv_width() + shard.core_width, shard.up + shard.ffn, expert});
  const Bytes logits = elements(scenario.inference.batch, scenario.model.vocabulary) *
                       bytes_per_element(Precision::fp32);
  return tokens * static_cast<double>(2 * shard.hidden + widest) * shard.element + logits +
         scenario.training.stack.memory.workspace;
}

StageMemory stage_memory(const Scenario& scenario, const Stage& stage) {
  const Inference& serving = scenario.inference;
  const std::int64_t tokens = serving.prompt + serving.output;
  TermList terms;
  terms.add("weights", weights_of(scenario, stage), "tensor, pipeline, expert");
  terms.add("keys and values",
            static_cast<double>(serving.batch) * cache_of_stage(scenario, stage, tokens),
            scenario.model.mla.kv_rank > 0 ? "pipeline" : "tensor, pipeline");
  terms.add("workspace", workspace_of(scenario), "tensor");
  StageMemory out;
  out.peak = terms.sum();
  out.terms = terms.take();
  return out;
}

} // namespace

MemoryFootprint serving_memory(const Scenario& given) {
  const Scenario scenario = at_length(given, given.inference.prompt + given.inference.output);
  const Chip& chip = scenario.chip();
  MemoryFootprint out;
  out.capacity = chip.memory.capacity;
  out.usable = chip.memory.usable;
  for (const Stage& stage : stages_of(scenario)) {
    out.stages.push_back(stage_memory(scenario, stage));
    if (out.stages.back().peak > out.peak) {
      out.peak = out.stages.back().peak;
      out.terms = out.stages.back().terms;
    }
  }
  const Stack::MemoryUse& use = scenario.training.stack.memory;
  out.cached = use.fragmentation * out.terms.back().bytes; // weights and cache are single blocks
  out.reserve = use.framework + out.cached;
  return out;
}

Bytes cache_of_sequence(const Scenario& given, std::int64_t tokens) {
  const Scenario scenario = at_length(given, tokens);
  Bytes most;
  for (const Stage& stage : stages_of(scenario))
    most = std::max(most, cache_of_stage(scenario, stage, tokens));
  return most;
}

Bytes cache_of_token(const Scenario& given) {
  Scenario whole = at_length(given, 1);
  whole.plan = Plan{};
  return cache_of_sequence(whole, 1);
}

std::int64_t largest_batch(const Scenario& scenario) {
  const auto fits = [&](std::int64_t batch) {
    Scenario tried = scenario;
    tried.inference.batch = batch;
    return serving_memory(tried).fits();
  };
  constexpr std::int64_t most = 1 << 30;
  if (!fits(1)) return 0;
  std::int64_t good = 1, bad = 2;
  while (bad < most && fits(bad)) {
    good = bad;
    bad *= 2;
  }
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

Bytes least_traffic(const Scenario& given, std::int64_t sequences, std::int64_t context) {
  Scenario scenario = at_length(given, context);
  Shard shard = shard_of(scenario);
  shard.batch = sequences;
  shard.queries = 1;
  set_tokens(shard, sequences);
  Bytes all;
  for (const Stage& stage : stages_of(scenario)) {
    StageParameters held = parameters_of(scenario, stage);
    if (scenario.model.moe.experts > 0) {
      const ExpertShard experts = expert_shard(scenario, shard);
      const double dealt = static_cast<double>(scenario.model.moe.experts) / scenario.plan.expert;
      held.in_layers.experts *= static_cast<double>(experts.experts) / dealt;
    }
    all += held.in_layers.total() * stored_weight(scenario.inference) + held.head * shard.element +
           static_cast<double>(sequences) * cache_of_stage(scenario, stage, context);
  }
  if (scenario.model.tied_embeddings && scenario.plan.pipeline == 1) {
    all += elements(shard.vocabulary, table_width(scenario.model)) * shard.element;
  }
  return all;
}

} // namespace clustersim
