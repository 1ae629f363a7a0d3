#include "report/serving.hpp"

#include "report/json_parts.hpp"

#include <nlohmann/json.hpp>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

Json memory_json(const ServingAnswer& answer) {
  const MemoryFootprint& memory = answer.memory;
  Json out{{"capacity_bytes", memory.capacity.si()}, {"usable_bytes", memory.usable.si()},
           {"reserve_bytes", memory.reserve.si()},   {"peak_bytes", memory.peak.si()},
           {"margin_bytes", memory.margin().si()},   {"fits", memory.fits()}};
  out["terms"] = Json::array();
  for (const MemoryTerm& term : memory.terms) {
    out["terms"].push_back(
        {{"name", term.name}, {"bytes", term.bytes.si()}, {"sharded_by", term.sharded_by}});
  }
  out["cache_per_token_bytes"] = answer.cache_per_token.si();
  out["cache_per_sequence_bytes"] = answer.cache_per_sequence.si();
  out["largest_batch"] = answer.largest_batch;
  return out;
}

Json phase_json(const ServingPhase& phase) {
  Json out{{"pass_s", phase.timeline.step.si()},
           {"period_s", phase.period.si()},
           {"energy_j", phase.energy.si()}};
  out["time_breakdown"] = Json::object();
  for (const BreakdownItem& item : close_breakdown(phase.timeline.breakdown, phase.timeline.step)) {
    out["time_breakdown"][item.name] = item.time.si();
  }
  out["bottleneck"] = bottleneck_json<Json>(phase.explanation);
  out["operators"] = operators_json<Json>(phase.timeline);
  return out;
}

Json results_json(const ServingAnswer& answer) {
  const ServingTimes& times = answer.times;
  Json out{{"time_to_first_token_s", times.first_token.si()},
           {"time_to_first_token_batch_s", times.first_of_batch.si()},
           {"time_per_output_token_s", times.per_token.si()},
           {"time_per_output_token_first_s", times.at_start.si()},
           {"time_per_output_token_last_s", times.at_end.si()},
           {"request_s", times.request.si()},
           {"tokens_per_s_user", answer.user_tokens_per_second},
           {"tokens_per_s_decode", answer.decode_tokens_per_second},
           {"tokens_per_s", answer.tokens_per_second},
           {"prompt_tokens_per_s", answer.prompt_tokens_per_second},
           {"chips", answer.scenario.cluster.chips()},
           {"params_total", answer.parameters.total},
           {"params_active", answer.parameters.active}};
  out["memory"] = memory_json(answer);
  out["decode_floor"] = {{"bytes", answer.decode_traffic.si()},
                         {"time_s", answer.decode_floor.si()},
                         {"share", bandwidth_share(answer)}};
  out["prefill"] = phase_json(answer.prefill);
  out["decode"] = phase_json(answer.decode);
  out["energy"] = {{"per_output_token_j", answer.per_output_token.si()}};
  if (answer.electricity_per_million) {
    out["cost"] = {
        {"electricity_per_million_output_tokens_usd", answer.electricity_per_million->si()}};
  }
  return out;
}

} // namespace

std::string render_serving_json(const ServingAnswer& answer, std::string_view version) {
  Json out{{"schema", "clustersim.inference/1"}, {"version", version}};
  out["title"] = answer.scenario.title;
  out["inputs"] = inputs_json<Json>(answer.scenario.inputs);
  out["assumptions"] = serving_assumptions(answer);
  out["warnings"] = answer.scenario.warnings;
  out["results"] = results_json(answer);
  return to_text(out);
}

} // namespace clustersim
