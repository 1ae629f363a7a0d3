#include "report/fields.hpp"

#include <array>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr auto fields = std::to_array<ReportField>({
    {"schema", "", "\"clustersim.report/1\"; the number grows when a field changes its meaning"},
    {"version", "", "of clustersim"},
    {"title", "", "of the scenario"},
    {"inputs.NAME.value", "", "number in SI units (see unit), or text"},
    {"inputs.NAME.text", "", "as written, with its unit"},
    {"inputs.NAME.unit", "", "SI unit of value; empty for plain numbers and texts"},
    {"inputs.NAME.origin", "", "file, command line, default, catalogue, inferred or calibration"},
    {"inputs.NAME.where", "", "file and line, option, or why this default"},
    {"inputs.NAME.source", "", "citation, for facts of the catalogue"},
    {"inputs.NAME.date", "", "of the fact, where it ages (prices)"},
    {"inputs.NAME.note", "", "remark of the source"},
    {"inputs.NAME.fitted", "", "\"time\" or \"memory\": set on measured runs"},
    {"assumptions[]", "", "sentences"},
    {"warnings[]", "", "sentences"},
    {"results.step_time_s", "s", "one optimizer step"},
    {"results.step_time_low_s", "s", "four of five measured steps are expected above this and"},
    {"results.step_time_high_s", "s", "below this; from the scatter of the calibration constants"},
    {"results.step_time_half_width", "", "step_time_high_s / step_time_s − 1"},
    {"results.tokens_per_s", "1/s", "tokens_per_step / step_time_s"},
    {"results.tokens_per_s_per_chip", "1/s", "tokens_per_s / chips"},
    {"results.samples_per_s", "1/s", "sequences"},
    {"results.tokens_per_step", "", "global batch × sequence"},
    {"results.micro_batches", "",
     "per step and data-parallel rank; of unlike partitions the mean, rounded down"},
    {"results.chips", "", "of the cluster"},
    {"results.model_flops_per_step", "FLOP",
     "what the model needs: backward = 2 × forward, no recomputation, causal attention halved"},
    {"results.hardware_flops_per_step", "FLOP", "what the chips execute, recomputation included"},
    {"results.tflops_per_chip", "TFLOP/s", "model_flops_per_step / step_time_s / chips"},
    {"results.mfu", "", "model FLOPs over peak, 0 to 1"},
    {"results.hfu", "", "hardware FLOPs over peak, 0 to 1"},
    {"results.peak_basis", "", "the denominator of mfu and hfu in words"},
    {"results.peak_flops_per_s", "FLOP/s", "the same as a number, one chip"},
    {"results.params_total", "", "parameters"},
    {"results.params_trained", "",
     "parameters that are trained: adapters, or all that is not frozen"},
    {"results.params_active", "", "parameters that work on a token; all of them in a dense model"},
    {"results.memory.capacity_bytes", "B", "data sheet"},
    {"results.memory.usable_bytes", "B", "of it, what the driver gives"},
    {"results.memory.reserve_bytes", "B",
     "of it, what the framework takes: context, communicators"},
    {"results.memory.peak_bytes", "B", "sum of the terms"},
    {"results.memory.used_bytes", "B", "peak_bytes + reserve_bytes"},
    {"results.memory.margin_bytes", "B", "usable_bytes − used_bytes; below 0 it does not fit"},
    {"results.memory.margin", "", "margin_bytes / usable_bytes"},
    {"results.memory.fits", "", "whether the margin is at least 0"},
    {"results.memory.terms[].name", "", "what takes the memory"},
    {"results.memory.terms[].bytes", "B", "on the fullest chip"},
    {"results.memory.terms[].sharded_by", "", "axes that divide it"},
    {"results.memory.stages[].stage", "", "pipeline stage"},
    {"results.memory.stages[].peak_bytes", "B", "of that stage"},
    {"results.memory.stages[].terms[].name", "", "what takes the memory there"},
    {"results.memory.stages[].terms[].bytes", "B", "of it"},
    {"results.time_breakdown.NAME", "s",
     "exposed time by cause; sums to step_time_s exactly, in any order of addition"},
    {"results.engine", "", "whose step this is; with what follows only when the event engine ran"},
    {"results.streams.NAME", "", "share of the step in which the stream of a rank works"},
    {"results.links.NAME.busy", "", "share of the step in which collectives use the link class"},
    {"results.links.NAME.use", "", "of the capacity of its busiest edge, averaged over the step"},
    {"results.critical_path.NAME", "s", "what the longest chain consists of; sums to the step"},
    {"results.stream_events", "", "operators started and collectives ended, all stages"},
    {"results.engines.NAME.step_time_s", "s", "with --compare-engines: by that engine"},
    {"results.engines.NAME.time_breakdown.NAME", "s", "likewise"},
    {"results.bottleneck.resource", "", "the one with the largest elasticity"},
    {"results.bottleneck.verdict", "", "sentence"},
    {"results.bottleneck.elasticities.NAME", "",
     "−∂ln(step time)/∂ln(speed of the resource); about 1 in sum"},
    {"results.bottleneck.doubled.NAME", "", "share of the step saved when it is twice as fast"},
    {"results.what_if[].change", "",
     "sentence; of the plan: arguments of --set, for those that fit and are faster"},
    {"results.what_if[].of", "", "\"hardware\" or \"plan\""},
    {"results.what_if[].step_time_s", "s", "with that change"},
    {"results.what_if[].gain", "", "share of the step saved"},
    {"results.remedies[].change", "",
     "of the plan, as arguments of --set; only when it does not fit"},
    {"results.remedies[].peak_bytes", "B", "with that change"},
    {"results.remedies[].used_bytes", "B", "with that change, the reserve included"},
    {"results.remedies[].fits", "", "whether it then fits"},
    {"results.remedies[].step_time_s", "s", "with that change"},
    {"results.remedies[].slowdown", "", "growth of the step"},
    {"results.operators[].block", "", "part of the step program"},
    {"results.operators[].name", "", "of the operator"},
    {"results.operators[].phase", "", "forward, recompute, backward, gradient or optimizer"},
    {"results.operators[].calls", "", "in one step"},
    {"results.operators[].device_s", "s", "one call, on the chip or the network"},
    {"results.operators[].host_s", "s", "one call, dispatch"},
    {"results.operators[].total_s", "s", "device_s × calls, hidden or not"},
    {"results.operators[].energy_j", "J", "one call, one chip, above its idle power"},
    {"results.operators[].model_flops", "FLOP", "one call, as counted by mfu"},
    {"results.operators[].roof", "", "kernels: what sets the time of a call"},
    {"results.operators[].flops", "FLOP", "kernels: one call, executed"},
    {"results.operators[].traffic_bytes", "B", "kernels: one call, compulsory DRAM traffic"},
    {"results.operators[].axis", "", "collectives: parallel axis"},
    {"results.operators[].algorithm", "", "collectives: the fastest one"},
    {"results.operators[].protocol", "", "collectives: the fastest one"},
    {"results.operators[].hidden", "", "collectives: share that may run beside compute"},
    {"results.partitions[].node", "", "where there are several: id"},
    {"results.partitions[].nodes", "", "how many"},
    {"results.partitions[].chips", "", "in all of them"},
    {"results.partitions[].replicas", "", "of the model"},
    {"results.partitions[].micro_batches", "", "of its busiest replica"},
    {"results.partitions[].sequences", "", "of the batch, all its replicas together"},
    {"results.partitions[].share", "", "of the micro-batches of a step"},
    {"results.partitions[].micro_batch_s", "s", "what one micro-batch more would take"},
    {"results.partitions[].memory_used_bytes", "B", "of a chip, the reserve included"},
    {"results.partitions[].memory_margin_bytes", "B", "below 0 it does not fit there"},
    {"results.partitions[].fits", "", "whether it fits there"},
    {"results.partitions[].time_breakdown.NAME", "s",
     "as results.time_breakdown, which is that of the partition the others wait for"},
    {"results.partitions[].chip_average_w", "W", "over the step, one chip"},
    {"results.balance.ideal_step_time_s", "s", "if micro-batches could be cut anywhere"},
    {"results.balance.equal_step_time_s", "s", "if all replicas did the same"},
    {"results.balance.cost", "", "step_time_s / ideal_step_time_s − 1"},
    {"results.balance.equal_cost", "", "equal_step_time_s / step_time_s − 1"},
    {"results.energy.chip_average_w", "W", "over the step, one chip"},
    {"results.energy.chip_busy_w", "W", "the same while it works or communicates"},
    {"results.energy.per_step_j", "J", "whole cluster, hosts and PUE included"},
    {"results.energy.per_token_j", "J", "per_step_j / tokens_per_step"},
    {"results.energy.pue", "", "power usage effectiveness"},
    {"results.energy.chip_step_j.NAME", "J",
     "one chip, one step: forward, recompute, backward, optimizer, communication, waiting"},
    {"results.cost.electricity_per_step_usd", "USD", "where prices.electricity is given"},
    {"results.cost.electricity_per_million_tokens_usd", "USD", "the same per token"},
    {"results.cost.rental_per_step_usd", "USD", "where the chip has a cloud price: all chips"},
    {"results.cost.rental_per_million_tokens_usd", "USD", "the same per token"},
    {"results.run.tokens", "", "of the whole run, where training.tokens is given"},
    {"results.run.steps", "", "of the whole run"},
    {"results.run.time_s", "s", "steps × step time, nothing lost to failures"},
    {"results.run.energy_j", "J", "steps × energy per step"},
    {"results.run.electricity_usd", "USD", "where prices.electricity is given"},
});

} // namespace

std::span<const ReportField> report_fields() {
  return fields;
}

std::string reference_report() {
  const std::string out =
      "# Report\n\nWritten by `clustersim reference report`; a test fails when it is stale.\n\n"
      "`clustersim run CONFIG --json` prints one object. Numbers are the shortest text that reads "
      "back as the same double; sizes are bytes, times seconds, shares from 0 to 1. The text "
      "report "
      "shows the same numbers, rounded.\n\n| field | unit | meaning |\n|---|---|---|\n";
  return out + table_rows(report_fields());
}

std::string table_rows(std::span<const ReportField> rows) {
  std::string out;
  for (const ReportField& field : rows) {
    out += fmt::format("| `{}` | {} | {} |\n", field.path, field.unit, field.meaning);
  }
  return out;
}

} // namespace clustersim
