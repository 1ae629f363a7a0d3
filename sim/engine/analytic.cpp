#include "engine/analytic.hpp"

#include "base/bug.hpp"
#include "engine/max_plus.hpp"

#include <algorithm>
#include <array>

namespace clustersim {

namespace {

constexpr std::size_t host_clock = 0;
constexpr std::size_t clock_of(Lane lane) {
  return 1 + static_cast<std::size_t>(lane);
}
constexpr std::size_t clock_count = 1 + lane_count;
using Clocks = MaxPlus<clock_count>;

/// Which clocks can delay the compute lane: leaving one out and looking at the difference is how
/// waiting time is attributed.
struct Waits {
  bool host = true;
  std::array<bool, lane_count> lane{true, true, true};
};

void apply(Clocks& clocks, const Op& op, const OpTime& time, double tax, const Waits& waits) {
  constexpr std::size_t compute = clock_of(Lane::compute);
  if (const auto* join = std::get_if<Join>(&op.work)) {
    if (waits.lane[static_cast<std::size_t>(join->lane)]) {
      clocks.wait_for(compute, clock_of(join->lane));
    }
    return;
  }
  if (waits.host) {
    clocks.delay(host_clock, time.host.si());
    clocks.wait_for(compute, host_clock);
  }
  if (op.lane == Lane::compute) {
    clocks.delay(compute, time.device.si());
    return;
  }
  const double hidden = op.hidden * time.device.si();
  clocks.delay(compute, time.device.si() - hidden);
  clocks.wait_for(clock_of(op.lane), compute);
  clocks.delay(clock_of(op.lane), hidden);
  clocks.delay(compute, tax * hidden);
}

/// Times of every operator, block by block: the laws are asked once per operator, not once per
/// call.
using BlockTimes = std::vector<std::vector<OpTime>>;

BlockTimes time_blocks(const StepProgram& program, CostModel& cost) {
  BlockTimes times;
  times.reserve(program.blocks.size());
  for (const Block& block : program.blocks) {
    std::vector<OpTime>& ops = times.emplace_back();
    ops.reserve(block.ops.size());
    for (const Op& op : block.ops) {
      ops.push_back(cost.time(op));
    }
  }
  return times;
}

Clocks sequence_map(const StepProgram& program, std::size_t sequence,
                    const std::vector<Clocks>& blocks) {
  Clocks total;
  for (const Item& item : program.sequences[sequence].items) {
    const Clocks once = item.what == Item::What::block ? blocks[item.index]
                                                       : sequence_map(program, item.index, blocks);
    total = once.power(item.count) * total;
  }
  return total;
}

/// Time of one step of the slowest class under the given waits, before stragglers.
Seconds makespan(const StepProgram& program, const BlockTimes& times, double tax,
                 const Waits& waits, std::size_t rank_class) {
  std::vector<Clocks> blocks(program.blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    for (std::size_t o = 0; o < times[b].size(); ++o) {
      apply(blocks[b], program.blocks[b].ops[o], times[b][o], tax, waits);
    }
  }
  Clocks step = sequence_map(program, program.classes[rank_class].sequence, blocks);
  // The step ends when every clock has.
  constexpr std::size_t compute = clock_of(Lane::compute);
  if (waits.host) step.wait_for(compute, host_clock);
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    if (waits.lane[lane]) step.wait_for(compute, 1 + lane);
  }
  return Seconds{step.finish(compute)};
}

struct Slowest {
  std::size_t rank_class = 0;
  Seconds time{-1}; // before stragglers
};

Slowest slowest_class(const StepProgram& program, const BlockTimes& times, double tax) {
  if (program.classes.empty()) {
    throw Bug("a step program without rank classes");
  }
  Slowest slowest;
  for (std::size_t c = 0; c < program.classes.size(); ++c) {
    const Seconds time = makespan(program, times, tax, Waits{}, c);
    if (time > slowest.time) {
      slowest = {c, time};
    }
  }
  return slowest;
}

/// Calls of each block in one step of a class.
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

std::vector<OpRecord> record_ops(const StepProgram& program, const BlockTimes& times,
                                 std::size_t rank_class) {
  std::vector<std::int64_t> calls(program.blocks.size(), 0);
  count_calls(program, program.classes[rank_class].sequence, 1, calls);
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
      records.push_back(std::move(record));
    }
  }
  return records;
}

/// Seconds of the compute lane by cause, as if nothing ever waited.
class BusyTime {
public:
  explicit BusyTime(double tax) : tax_(tax) {}

  void add(const OpRecord& op) {
    const double calls = static_cast<double>(op.calls);
    if (op.axis) {
      const Seconds hidden = op.each.device * op.hidden;
      (op.lane == Lane::data ? data : tensor) += (op.each.device - hidden + hidden * tax_) * calls;
      return;
    }
    const KernelTime& kernel = op.each.kernel;
    if (op.phase == Phase::optimizer || op.phase == Phase::gradient) {
      optimizer += kernel.total * calls;
      return;
    }
    launch += kernel.launch * calls;
    Seconds& roof = kernel.matrix >= std::max({kernel.vector, kernel.l2, kernel.memory})
                        ? compute_bound
                        : memory_bound;
    roof += (kernel.total - kernel.launch) * calls;
  }

  Seconds compute_bound, memory_bound, launch, tensor, data, optimizer;

private:
  double tax_;
};

std::vector<BreakdownItem> break_down(const StepProgram& program, const BlockTimes& times,
                                      const CostModel& cost, const std::vector<OpRecord>& ops,
                                      const Slowest& slowest) {
  BusyTime busy(cost.tax());
  for (const OpRecord& op : ops) {
    busy.add(op);
  }
  // Waits are added one by one; each never shortens the step, so each share is ≥ 0.
  const auto with = [&](const Waits& waits) {
    return makespan(program, times, cost.tax(), waits, slowest.rank_class);
  };
  const Seconds none = with({false, {true, false, false}});
  const Seconds tensor = with({false, {true, true, false}});
  const Seconds lanes = with({false, {true, true, true}});
  const Seconds all = slowest.time;
  std::vector<BreakdownItem> items{
      {"compute_bound", busy.compute_bound},
      {"memory_bound", busy.memory_bound},
      {"launch", busy.launch},
      {"host", all - lanes, Activity::waiting},
      {"tensor_parallel", busy.tensor + (tensor - none)},
      {"data_parallel", busy.data + (lanes - tensor)},
      {"optimizer", busy.optimizer},
      {"straggler", all * (cost.straggler() - 1.0), Activity::waiting},
  };
  return items;
}

} // namespace

Timeline run_analytic(const StepProgram& program, CostModel& cost) {
  const BlockTimes times = time_blocks(program, cost);
  const Slowest slowest = slowest_class(program, times, cost.tax());
  Timeline timeline;
  timeline.ops = record_ops(program, times, slowest.rank_class);
  timeline.breakdown = break_down(program, times, cost, timeline.ops, slowest);
  for (const BreakdownItem& item : timeline.breakdown) {
    timeline.step += item.time;
  }
  for (const OpRecord& op : timeline.ops) {
    if (!op.axis) {
      timeline.hardware_flops += op.each.kernel.flops * static_cast<double>(op.calls);
    }
  }
  return timeline;
}

Seconds step_time(const StepProgram& program, CostModel& cost) {
  const BlockTimes times = time_blocks(program, cost);
  return slowest_class(program, times, cost.tax()).time * cost.straggler();
}

} // namespace clustersim
