#include "engine/analytic.hpp"

#include "base/bug.hpp"
#include "engine/clocks.hpp"
#include "engine/pipeline_run.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

namespace clustersim {

namespace {

/// Seconds of the compute lane by cause, as if nothing ever waited.
class BusyTime {
public:
  explicit BusyTime(double tax) : tax_(tax) {}

  void add(const OpRecord& op) {
    const double calls = static_cast<double>(op.calls);
    if (op.axis) {
      const Seconds hidden = op.each.device * op.hidden;
      lanes[static_cast<std::size_t>(op.lane)] += (op.each.device - hidden + hidden * tax_) * calls;
      return;
    }
    if (op.of_host) {
      lanes[static_cast<std::size_t>(Lane::host)] += op.each.device * ((1.0 - op.hidden) * calls);
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
  [[nodiscard]] Seconds of(Lane lane) const { return lanes[static_cast<std::size_t>(lane)]; }
  /// Sends excepted: those are left out whole when they are left out.
  [[nodiscard]] Seconds total() const {
    Seconds sum = compute_bound + memory_bound + launch + optimizer;
    for (const Lane lane : {Lane::tensor, Lane::context, Lane::expert, Lane::data, Lane::host})
      sum += of(lane);
    return sum;
  }

  Seconds compute_bound, memory_bound, launch, optimizer;
  std::array<Seconds, lane_count> lanes{};

private:
  double tax_;
};

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

BusyTime busy_time(const std::vector<OpRecord>& ops, double tax) {
  BusyTime busy(tax);
  for (const OpRecord& op : ops) {
    busy.add(op);
  }
  return busy;
}

/// A program with its times, timed under any set of waits.
class Timed {
public:
  Timed(const StepProgram& program, CostModel& cost)
      : program_(&program), tax_(cost.tax()), times_(time_blocks(program, cost)) {
    if (program.classes.empty()) throw Bug("a step program without rank classes");
  }

  /// The step of all classes, before stragglers.
  [[nodiscard]] Seconds makespan(const Waits& waits) const {
    const std::vector<Clocks> maps = sequence_maps(*program_, times_, tax_, waits);
    if (program_->pipeline) return Seconds{pipeline_makespan(*program_, maps, waits)};
    double latest = 0.0;
    for (const RankClass& one : program_->classes) {
      Clocks step = maps[one.sequence];
      wait_for_all(step, waits);
      latest = std::max(latest, step.finish(compute_clock));
    }
    return Seconds{latest};
  }

  /// Operators of the busiest class.
  [[nodiscard]] std::vector<OpRecord> busiest() const {
    std::vector<OpRecord> best;
    Seconds most{-1};
    for (std::size_t c = 0; c < program_->classes.size(); ++c) {
      std::vector<OpRecord> ops = record_ops(*program_, times_, c);
      const Seconds busy = busy_time(ops, tax_).total();
      if (busy > most) {
        most = busy;
        best = std::move(ops);
      }
    }
    return best;
  }

private:
  const StepProgram* program_;
  double tax_;
  BlockTimes times_;
};

Waits with_lanes(std::initializer_list<Lane> lanes, bool host) {
  Waits waits{host, {true, false, false, false, false, false, false}};
  for (const Lane lane : lanes)
    waits.lane[static_cast<std::size_t>(lane)] = true;
  return waits;
}

/// What the busiest class does, then what it waits for. Waits are added one by one; each never
/// shortens the step, so each share is at least 0. What the busiest class waits when nothing but
/// the order of passes makes it wait is the bubble.
std::vector<BreakdownItem> break_down(const StepProgram& program, const Timed& timed,
                                      const CostModel& cost, const std::vector<OpRecord>& ops) {
  using enum Lane;
  const BusyTime busy = busy_time(ops, cost.tax());
  // Waiting for more never shortens a step; the estimate for very long schedules might, by a hair.
  Seconds last = busy.total();
  const auto at_least_last = [&](const Waits& waits) {
    return last = std::max(last, timed.makespan(waits));
  };
  const Seconds none = at_least_last(with_lanes({}, false));
  const Seconds sends = at_least_last(with_lanes({pipeline}, false));
  const Seconds at_tensor = at_least_last(with_lanes({pipeline, tensor}, false));
  const Seconds at_context = at_least_last(with_lanes({pipeline, tensor, context}, false));
  const Seconds at_expert = at_least_last(with_lanes({pipeline, tensor, context, expert}, false));
  const Seconds at_data =
      at_least_last(with_lanes({pipeline, tensor, context, expert, data}, false));
  const Seconds lanes =
      at_least_last(with_lanes({pipeline, tensor, context, expert, data, Lane::host}, false));
  const Seconds all = at_least_last(Waits{});
  std::vector<BreakdownItem> items{
      {"compute_bound", busy.compute_bound},
      {"memory_bound", busy.memory_bound},
      {"launch", busy.launch},
      {"host", all - lanes, Activity::waiting},
      {"tensor_parallel", busy.of(tensor) + (at_tensor - sends)},
      {"context_parallel", busy.of(context) + (at_context - at_tensor)},
      {"expert_parallel", busy.of(expert) + (at_expert - at_context)},
      {"data_parallel", busy.of(data) + (at_data - at_expert)},
      {"offload", busy.of(Lane::host) + (lanes - at_data)},
      {"pipeline_send", sends - none},
      {"pipeline_bubble", none - busy.total(), Activity::waiting},
      {"optimizer", busy.optimizer},
      {"straggler", all * (cost.straggler() - 1.0), Activity::waiting},
  };
  // An axis that is not split has no row.
  std::erase_if(items, [&](const BreakdownItem& item) {
    const bool optional =
        item.name == "context_parallel" || item.name == "expert_parallel" || item.name == "offload";
    return (optional && item.time <= Seconds{0}) ||
           (!program.pipeline && item.name.starts_with("pipeline_"));
  });
  return items;
}

} // namespace

Timeline run_analytic(const StepProgram& program, CostModel& cost) {
  const Timed timed(program, cost);
  Timeline timeline;
  timeline.ops = timed.busiest();
  timeline.breakdown = break_down(program, timed, cost, timeline.ops);
  for (const BreakdownItem& item : timeline.breakdown) {
    timeline.step += item.time;
  }
  for (const OpRecord& op : timeline.ops) {
    const bool product = op.each.kernel.matrix > Seconds{0}; // HFU is of the matrix units' peak
    if (!op.axis && product) {
      timeline.hardware_flops += op.each.kernel.flops * static_cast<double>(op.calls);
    }
  }
  return timeline;
}

Seconds step_time(const StepProgram& program, CostModel& cost) {
  return Timed(program, cost).makespan(Waits{}) * cost.straggler();
}

} // namespace clustersim
