#include "engine/op_records.hpp"

#include "base/bug.hpp"
#include "engine/pipeline_run.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace clustersim {

void count_calls(const StepProgram& program, std::size_t sequence, std::int64_t times,
                 std::vector<std::int64_t>& calls) {
  for (const Item& item : program.sequences[sequence].items) {
    if (item.what == Item::What::block) {
      calls[item.index] += times * item.count;
    } else {
      count_calls(program, item.index, times * item.count, calls);
    }
  }
}

namespace {

std::vector<OpRecord> record_ops(const StepProgram& program, const BlockTimes& times,
                                 std::size_t rank_class) {
  std::vector<std::int64_t> calls(program.blocks.size(), 0);
  if (program.pipeline) {
    const std::vector<std::int64_t> passes = count_passes(program, rank_class);
    for (std::size_t s = 0; s < passes.size(); ++s) {
      if (passes[s] > 0) count_calls(program, s, passes[s], calls);
    }
  } else {
    count_calls(program, program.classes[rank_class].sequence, 1, calls);
  }
  std::vector<OpRecord> records;
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    for (std::size_t o = 0; o < program.blocks[b].ops.size(); ++o) {
      const Op& op = program.blocks[b].ops[o];
      if (calls[b] == 0 || std::holds_alternative<Join>(op.work)) {
        continue;
      }
      OpRecord record{program.blocks[b].name, op.name, op.phase, calls[b], times[b][o],
                      op.model_flops,         op.lane, op.hidden};
      if (const auto* collective = std::get_if<Collective>(&op.work)) {
        record.axis = collective->axis;
      }
      record.of_host = std::holds_alternative<HostWork>(op.work);
      records.push_back(std::move(record));
    }
  }
  return records;
}

constexpr std::array<std::string_view, cause_count> names{
    "compute_bound",   "memory_bound",     "launch",          "host",
    "tensor_parallel", "context_parallel", "expert_parallel", "data_parallel",
    "offload",         "pipeline_send",    "pipeline_bubble", "optimizer"};

} // namespace

Cause cause_of(Lane lane) {
  switch (lane) {
  case Lane::compute:
    return Cause::compute_bound;
  case Lane::tensor:
    return Cause::tensor;
  case Lane::context:
    return Cause::context;
  case Lane::expert:
    return Cause::expert;
  case Lane::data:
    return Cause::data;
  case Lane::pipeline:
    return Cause::pipeline_send;
  case Lane::host:
    return Cause::offload;
  }
  throw Bug("unknown lane");
}

Cause cause_of(const KernelTime& kernel, Phase phase) {
  if (phase == Phase::optimizer || phase == Phase::gradient) return Cause::optimizer;
  return kernel.matrix >= std::max({kernel.vector, kernel.l2, kernel.memory}) ? Cause::compute_bound
                                                                              : Cause::memory_bound;
}

std::vector<BreakdownItem> breakdown_of(const StepProgram& program, const Causes& causes,
                                        Seconds straggler) {
  std::vector<BreakdownItem> items;
  for (std::size_t i = 0; i < cause_count; ++i) {
    const auto cause = static_cast<Cause>(i);
    const bool axis = cause == Cause::context || cause == Cause::expert || cause == Cause::offload;
    const bool pipeline = cause == Cause::pipeline_send || cause == Cause::pipeline_bubble;
    if ((axis && causes[i] <= 0.0) || (pipeline && !program.pipeline)) continue;
    const bool waits = cause == Cause::host || cause == Cause::pipeline_bubble;
    items.push_back(
        {std::string{names[i]}, Seconds{causes[i]}, waits ? Activity::waiting : Activity::working});
  }
  items.push_back({"straggler", straggler, Activity::waiting});
  return items;
}

BusyTime::BusyTime(const std::vector<OpRecord>& ops, double tax) {
  for (const OpRecord& op : ops)
    add(op, tax);
}

void BusyTime::add(const OpRecord& op, double tax) {
  const double calls = static_cast<double>(op.calls);
  if (op.axis) {
    const Seconds hidden = op.each.device * op.hidden;
    lanes[static_cast<std::size_t>(op.lane)] += (op.each.device - hidden + hidden * tax) * calls;
    return;
  }
  if (op.of_host) {
    lanes[static_cast<std::size_t>(Lane::host)] += op.each.device * ((1.0 - op.hidden) * calls);
    return;
  }
  const KernelTime& kernel = op.each.kernel;
  const Cause cause = cause_of(kernel, op.phase);
  if (cause == Cause::optimizer) {
    optimizer += kernel.total * calls;
    return;
  }
  launch += kernel.launch * calls;
  Seconds& roof = cause == Cause::compute_bound ? compute_bound : memory_bound;
  roof += (kernel.total - kernel.launch) * calls;
}

Seconds BusyTime::total() const {
  Seconds sum = compute_bound + memory_bound + launch + optimizer;
  for (const Lane lane : {Lane::tensor, Lane::context, Lane::expert, Lane::data, Lane::host})
    sum += of(lane);
  return sum;
}

BusiestClass busiest_class(const StepProgram& program, const BlockTimes& times, double tax) {
  BusiestClass best;
  Seconds most{-1};
  for (std::size_t c = 0; c < program.classes.size(); ++c) {
    std::vector<OpRecord> ops = record_ops(program, times, c);
    const Seconds busy = BusyTime(ops, tax).total();
    if (busy > most) {
      most = busy;
      best = {c, std::move(ops)};
    }
  }
  return best;
}

Flops executed_flops(const std::vector<OpRecord>& ops) {
  Flops sum;
  for (const OpRecord& op : ops) {
    const bool product = op.each.kernel.matrix > Seconds{0}; // HFU is of the matrix units' peak
    if (!op.axis && product) sum += op.each.kernel.flops * static_cast<double>(op.calls);
  }
  return sum;
}

} // namespace clustersim
