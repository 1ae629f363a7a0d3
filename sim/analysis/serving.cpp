#include "analysis/serving.hpp"

#include "plan/serving_program.hpp"

#include <algorithm>

namespace clustersim {

namespace {

Seconds time_of(const StepProgram& program, const Scenario& scenario, Network& network) {
  CostModel cost(scenario, network);
  return step_time(program, cost);
}

/// Decode runs under a launch mode of its own.
Scenario as_decoding(Scenario scenario) {
  scenario.training.stack.launch = scenario.inference.launch;
  return scenario;
}

/// The next token of a sequence needs its last one, so a step is over when the micro-batch is
/// through all stages and every stage has served all micro-batches.
Seconds decode_time(const Scenario& scenario, Network& network, std::int64_t context) {
  const ServingSplit split = split_of(scenario, scenario.inference.batch);
  const auto one = [&](Part part) {
    return time_of(decode_program(scenario, split.sequences, context, part), scenario, network);
  };
  const Seconds latency = one(Part::all_stages);
  if (split.micro_batches == 1) return latency;
  return std::max(latency, static_cast<double>(split.micro_batches) * one(Part::last_stage));
}

Seconds prefill_time(const Scenario& scenario, Network& network, std::int64_t batch) {
  const ServingSplit split = split_of(scenario, batch);
  const auto one = [&](Part part) {
    return time_of(prefill_program(scenario, split.sequences, part), scenario, network);
  };
  const Seconds latency = one(Part::all_stages);
  if (split.micro_batches == 1) return latency;
  return latency + static_cast<double>(split.micro_batches - 1) * one(Part::last_stage);
}

ServingPhase phase_of(const Scenario& scenario, const StepProgram& program, Network& network,
                      Seconds period) {
  CostModel cost(scenario, network);
  ServingPhase out;
  out.timeline = run_analytic(program, cost);
  out.explanation = explain(scenario, program, network, out.timeline);
  out.period = period;
  const ChipEnergy chip = chip_energy(out.timeline, cost.device().energy);
  out.energy = site_energy(scenario, chip.average, period);
  return out;
}

/// Of the decode step in the middle of the output.
std::int64_t middle_context(const Inference& serving) {
  return serving.prompt + std::max<std::int64_t>(serving.output / 2, 1);
}

/// Simpson's rule over the contexts from the first decode step to the last: exact where a step
/// grows linearly with its context.
ServingTimes times_of(const Scenario& scenario, Network& network, Seconds middle) {
  const Inference& serving = scenario.inference;
  const Scenario decoding = as_decoding(scenario);
  const std::int64_t first = serving.prompt + 1;
  const std::int64_t last = std::max(first, serving.prompt + serving.output - 1);
  ServingTimes out;
  out.first_token = prefill_time(scenario, network, 1);
  out.first_of_batch = prefill_time(scenario, network, serving.batch);
  out.at_start = decode_time(decoding, network, first);
  out.at_end = decode_time(decoding, network, last);
  out.per_token = (out.at_start + 4.0 * middle + out.at_end) / 6.0;
  out.request = out.first_of_batch + static_cast<double>(serving.output - 1) * out.per_token;
  return out;
}

void add_throughput(ServingAnswer& out) {
  const Inference& serving = out.scenario.inference;
  const double sequences = static_cast<double>(serving.batch) * out.scenario.plan.data;
  const double prompts = sequences * static_cast<double>(serving.prompt);
  const double outputs = sequences * static_cast<double>(serving.output);
  out.user_tokens_per_second = 1.0 / out.times.per_token.si();
  out.decode_tokens_per_second = sequences / out.times.per_token.si();
  out.tokens_per_second = outputs / out.times.request.si();
  out.prompt_tokens_per_second = prompts / out.times.first_of_batch.si();
  const double steps = static_cast<double>(serving.output - 1);
  const double scale = out.times.per_token / out.decode.period;
  out.per_output_token = (out.prefill.energy + steps * scale * out.decode.energy) / outputs;
  if (out.scenario.prices.electricity) {
    out.electricity_per_million = 1e6 * out.per_output_token * *out.scenario.prices.electricity;
  }
}

} // namespace

ServingAnswer serve(const Scenario& scenario) {
  ServingAnswer out;
  out.scenario = scenario;
  out.parameters = count_parameters(scenario.model);
  out.memory = serving_memory(scenario);
  const Inference& serving = scenario.inference;
  out.cache_per_token = cache_of_token(scenario);
  out.cache_per_sequence = cache_of_sequence(scenario, serving.prompt + serving.output);
  out.largest_batch = largest_batch(scenario);

  const auto network = std::make_shared<Network>(scenario.cluster);
  const Scenario decoding = as_decoding(scenario);
  const std::int64_t context = middle_context(serving);
  const Seconds middle = decode_time(decoding, *network, context);
  out.times = times_of(scenario, *network, middle);
  const ServingSplit split = split_of(scenario, serving.batch);
  out.prefill = phase_of(scenario, prefill_program(scenario, split.sequences, Part::all_stages),
                         *network, out.times.first_of_batch);
  out.decode =
      phase_of(decoding, decode_program(decoding, split.sequences, context, Part::all_stages),
               *network, middle);
  out.decode_traffic = least_traffic(scenario, split.sequences, context);
  out.decode_floor = out.decode_traffic / scenario.chip().memory.bandwidth;
  out.network = network;
  add_throughput(out);
  return out;
}

} // namespace clustersim
