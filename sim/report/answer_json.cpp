#include "report/answer.hpp"

#include "base/bug.hpp"
#include "report/figures.hpp"
#include "report/json_parts.hpp"
#include "report/json_writer.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace clustersim {
namespace {

using Json = nlohmann::ordered_json;

Json memory_json(const Answer& answer, const Figures& figures) {
  const MemoryFootprint& memory = answer.memory;
  Json out;
  out["capacity_bytes"] = memory.capacity.si();
  out["usable_bytes"] = memory.usable.si();
  out["reserve_bytes"] = memory.reserve.si();
  out["peak_bytes"] = memory.peak.si();
  out["used_bytes"] = figures.used.si();
  out["margin_bytes"] = memory.margin().si();
  out["margin"] = figures.margin_share;
  out["fits"] = memory.fits();
  out["terms"] = Json::array();
  for (const MemoryTerm& term : memory.terms) {
    out["terms"].push_back(
        {{"name", term.name}, {"bytes", term.bytes.si()}, {"sharded_by", term.sharded_by}});
  }
  // One pipeline stage: every chip holds the same.
  out["stages"] = Json::array();
  for (const StageMemory& stage : memory.stages) {
    Json terms = Json::array();
    for (const MemoryTerm& term : stage.terms) {
      terms.push_back({{"name", term.name}, {"bytes", term.bytes.si()}});
    }
    out["stages"].push_back({{"stage", out["stages"].size()},
                             {"peak_bytes", stage.peak.si()},
                             {"terms", std::move(terms)}});
  }
  return out;
}

Json what_if_json(const std::vector<WhatIf>& what_ifs) {
  Json out = Json::array();
  for (const WhatIf& what_if : what_ifs) {
    out.push_back({{"change", what_if.change},
                   {"of", what_if.plan ? "plan" : "hardware"},
                   {"step_time_s", what_if.step.si()},
                   {"gain", what_if.gain}});
  }
  return out;
}

Json remedies_json(const Answer& answer) {
  Json out = Json::array();
  for (const PlanChange& remedy : answer.remedies) {
    out.push_back({{"change", remedy.change},
                   {"peak_bytes", remedy.peak.si()},
                   {"used_bytes", (remedy.peak + answer.memory.reserve).si()},
                   {"fits", remedy.fits},
                   {"step_time_s", remedy.step.si()},
                   {"slowdown", slowdown_of(remedy, answer)}});
  }
  return out;
}

Json breakdown_json(const std::vector<BreakdownItem>& items, Seconds step) {
  Json out = Json::object();
  for (const BreakdownItem& item : close_breakdown(items, step))
    out[item.name] = item.time.si();
  return out;
}

/// What only the event engine knows; both engines where they are compared.
void add_engines(Json& results, const Answer& answer) {
  if (!answer.event) return;
  const EventRun& run = *answer.event;
  results["engine"] = name_of(answer.engine);
  results["streams"] = Json::object();
  for (const StreamUse& stream : run.streams)
    results["streams"][stream.name] = stream.busy;
  results["links"] = Json::object();
  for (const LinkUse& link : run.links) {
    results["links"][answer.network->graph.link_classes()[link.link_class.at()].id] = {
        {"busy", link.busy}, {"use", link.use}};
  }
  results["critical_path"] = breakdown_json(run.critical_path, run.timeline.step);
  results["stream_events"] = run.events;
  if (!answer.analytic) return;
  for (const auto& [engine, timeline] :
       {std::pair{Engine::analytic, &*answer.analytic}, std::pair{Engine::event, &run.timeline}}) {
    results["engines"][name_of(engine)] = {
        {"step_time_s", timeline->step.si()},
        {"time_breakdown", breakdown_json(timeline->breakdown, timeline->step)}};
  }
}

Json energy_json(const Answer& answer, const Figures& figures) {
  Json out{{"chip_average_w", answer.energy.chip.average.si()},
           {"chip_busy_w", answer.energy.chip.busy.si()},
           {"per_step_j", answer.energy.per_step.si()},
           {"per_token_j", figures.energy_per_token.si()},
           {"pue", answer.scenario.power.pue}};
  out["chip_step_j"] = Json::object();
  for (const EnergyItem& item : answer.energy.chip.items) {
    out["chip_step_j"][item.name] = item.energy.si();
  }
  return out;
}

Json cost_json(const Answer& answer, const Figures& figures) {
  Json out = Json::object();
  const auto put = [&](const char* key, const std::optional<Dollars>& value) {
    if (value) {
      out[key] = value->si();
    }
  };
  put("electricity_per_step_usd", answer.electricity_per_step);
  put("electricity_per_million_tokens_usd", figures.electricity_per_million_tokens);
  put("rental_per_step_usd", figures.rental_per_step);
  put("rental_per_million_tokens_usd", figures.rental_per_million_tokens);
  return out;
}

Json run_json(const RunTotals& run) {
  Json out{{"tokens", run.tokens},
           {"steps", run.steps},
           {"time_s", run.time.si()},
           {"energy_j", run.energy.si()}};
  if (run.electricity) {
    out["electricity_usd"] = run.electricity->si();
  }
  return out;
}

Json headline_json(const Answer& answer, const Figures& figures) {
  const Headline& head = answer.headline;
  Json out;
  out["step_time_s"] = answer.timeline.step.si();
  out["step_time_low_s"] = answer.explanation.range.low.si();
  out["step_time_high_s"] = answer.explanation.range.high.si();
  out["step_time_half_width"] = half_width_of(answer);
  out["tokens_per_s"] = head.tokens_per_second;
  out["tokens_per_s_per_chip"] = head.tokens_per_second_per_chip;
  out["samples_per_s"] = head.samples_per_second;
  out["tokens_per_step"] = figures.tokens_per_step;
  out["micro_batches"] = figures.micro_batches;
  out["chips"] = figures.chips;
  out["model_flops_per_step"] = head.model_flops.si();
  out["hardware_flops_per_step"] = head.hardware_flops.si();
  out["tflops_per_chip"] = head.rate_per_chip.si() / 1e12;
  out["mfu"] = head.mfu;
  out["hfu"] = head.hfu;
  out["peak_basis"] = head.peak_basis;
  out["peak_flops_per_s"] = head.peak.si();
  out["params_total"] = answer.parameters.total;
  out["params_active"] = answer.parameters.active;
  out["params_trained"] = answer.trained;
  return out;
}

/// Of several unlike partitions.
Json partitions_json(const Answer& answer) {
  Json out = Json::array();
  for (const PartitionAnswer& part : answer.partitions) {
    const Partition& own = part.scenario.partition();
    Json row{{"node", own.node.id}, {"nodes", own.nodes}, {"chips", own.chips()}};
    row["replicas"] = part.share.replicas;
    row["micro_batches"] = part.share.micro_batches;
    row["sequences"] = part.share.all * answer.scenario.plan.micro_batch;
    row["share"] = share_of(part, answer);
    row["micro_batch_s"] = part.share.each.si();
    row["memory_used_bytes"] = (part.memory.peak + part.memory.reserve).si();
    row["memory_margin_bytes"] = part.memory.margin().si();
    row["fits"] = part.memory.fits();
    row["time_breakdown"] = Json::object();
    for (const BreakdownItem& item : close_breakdown(part.timeline.breakdown, part.timeline.step)) {
      row["time_breakdown"][item.name] = item.time.si();
    }
    row["chip_average_w"] = part.energy.average.si();
    out.push_back(std::move(row));
  }
  return out;
}

Json balance_json(const Balance& balance) {
  return {{"ideal_step_time_s", balance.ideal.si()},
          {"equal_step_time_s", balance.equal.si()},
          {"cost", balance_cost(balance)},
          {"equal_cost", balance.equal / balance.step - 1.0}};
}

} // namespace

std::string render_json(const Answer& answer, std::string_view version) {
  const Figures figures = figures_of(answer);
  Json out;
  out["schema"] = "clustersim.report/1";
  out["version"] = version;
  out["title"] = answer.scenario.title;
  out["inputs"] = inputs_json<Json>(answer.scenario.inputs);
  out["assumptions"] = assumptions_of(answer);
  out["warnings"] = answer.scenario.warnings;
  Json results = headline_json(answer, figures);
  results["memory"] = memory_json(answer, figures);
  results["time_breakdown"] = Json::object();
  for (const BreakdownItem& item : figures.time) {
    results["time_breakdown"][item.name] = item.time.si();
  }
  add_engines(results, answer);
  results["bottleneck"] = bottleneck_json<Json>(answer.explanation);
  results["what_if"] = what_if_json(answer.explanation.what_ifs);
  results["remedies"] = remedies_json(answer);
  results["operators"] = operators_json<Json>(answer.timeline);
  if (answer.balance) {
    results["partitions"] = partitions_json(answer);
    results["balance"] = balance_json(*answer.balance);
  }
  results["energy"] = energy_json(answer, figures);
  results["cost"] = cost_json(answer, figures);
  if (figures.run) {
    results["run"] = run_json(*figures.run);
  }
  out["results"] = std::move(results);
  return to_text(out);
}

} // namespace clustersim
