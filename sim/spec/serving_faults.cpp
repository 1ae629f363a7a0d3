#include "spec/serving_faults.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace clustersim {
namespace {

void check_model(const Scenario& scenario, std::vector<PlanFault>& faults) {
  const Transformer& model = scenario.model;
  if (model.architecture != Architecture::decoder || !model.vocabulary_head) {
    faults.push_back({"model", model.name + " does not generate text token by token",
                      "a decoder with a vocabulary head"});
  }
  const std::int64_t longest = scenario.inference.prompt + scenario.inference.output;
  if (model.position == PositionKind::learned && longest > model.max_positions) {
    faults.push_back({"inference.output",
                      fmt::format("prompt and output together are longer than the {} learned "
                                  "positions of {}",
                                  model.max_positions, model.name),
                      fmt::format("at most {} together", model.max_positions)});
  }
}

void check_formats(const Inference& serving, std::vector<PlanFault>& faults) {
  if (bytes_per_element(serving.weights) > bytes_per_element(serving.precision)) {
    faults.push_back({"inference.weights",
                      fmt::format("weights in {} are wider than the products in {}",
                                  name_of(serving.weights), name_of(serving.precision)),
                      fmt::format("\"{}\" or narrower", name_of(serving.precision))});
  }
}

void check_passes(const Inference& serving, std::vector<PlanFault>& faults) {
  constexpr std::int64_t most_passes = 1024; // each has an attention of its own
  if (serving.prompt / serving.chunk >= most_passes) {
    faults.push_back({"inference.chunk",
                      fmt::format("a prompt of {} tokens in chunks of {} takes more than {} passes",
                                  serving.prompt, serving.chunk, most_passes),
                      fmt::format("chunk = {} or more", serving.prompt / most_passes + 1)});
  }
}

void check_plan(const Scenario& scenario, std::vector<PlanFault>& faults) {
  const Plan& plan = scenario.plan;
  if (plan.context > 1) {
    faults.push_back({"plan.context", "serving does not share a sequence among ranks",
                      "context = 1, and tensor in its place"});
  }
  if (scenario.model.layers % plan.pipeline != 0) {
    faults.push_back({"plan.pipeline",
                      fmt::format("{} layers of {} are not divisible by pipeline {}",
                                  scenario.model.layers, scenario.model.name, plan.pipeline),
                      "pipeline = " + nearest_divisors(scenario.model.layers, plan.pipeline)});
  }
}

/// Keys of a plan that serving has, too.
constexpr std::array plan_keys{"plan.tensor",  "plan.pipeline", "plan.data",
                               "plan.context", "plan.expert",   "plan.expert_tensor"};

bool belongs_to_training(const std::string& key) {
  if (key.starts_with("training.") || key.starts_with("finetune.")) return true;
  return key.starts_with("plan.") && std::ranges::find(plan_keys, key) == plan_keys.end();
}

} // namespace

void derive_serving(ScenarioInput& input, const Reading& reading, Diagnostics& out) {
  Inference& serving = input.scenario.inference;
  if (!reading.has("inference.weights")) serving.weights = serving.precision;
  if (!reading.has("inference.kv_cache")) {
    serving.kv_cache = is_quantised(serving.precision) ? Precision::bf16 : serving.precision;
  }
  input.scenario.training.sequence = serving.prompt;
  input.scenario.training.precision = serving.precision;
  input.scenario.plan.micro_batch = serving.batch;
  for (const auto& [key, given] : reading.given) {
    if (belongs_to_training(key)) {
      out.add(
          diagnose(given.place,
                   fmt::format("'{}' belongs to training, and [inference] asks about serving", key),
                   "one of both"));
    }
  }
  if (!input.partitions.empty()) {
    out.add(diagnose(reading.place_of("inference.batch"),
                     "unlike partitions do not serve one model together",
                     "a cluster.node, or one scenario for each partition"));
  }
}

std::vector<PlanFault> serving_faults(const Scenario& scenario) {
  std::vector<PlanFault> faults;
  check_model(scenario, faults);
  check_formats(scenario.inference, faults);
  check_passes(scenario.inference, faults);
  check_plan(scenario, faults);
  return faults;
}

} // namespace clustersim
