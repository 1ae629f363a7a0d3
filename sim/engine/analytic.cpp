#include "engine/analytic.hpp"

#include "base/bug.hpp"
#include "engine/clocks.hpp"
#include "engine/op_records.hpp"
#include "engine/pipeline_run.hpp"

#include <algorithm>
#include <initializer_list>

namespace clustersim {

namespace {

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
    return busiest_class(*program_, times_, tax_).ops;
  }

private:
  const StepProgram* program_;
  double tax_;
  BlockTimes times_;
};

Waits with_lanes(std::initializer_list<Lane> lanes, bool host) {
  Waits waits{host, {true}};
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
  const BusyTime busy(ops, cost.tax());
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
  Causes causes{};
  const auto put = [&](Cause cause, Seconds time) {
    causes[static_cast<std::size_t>(cause)] = time.si();
  };
  put(Cause::compute_bound, busy.compute_bound);
  put(Cause::memory_bound, busy.memory_bound);
  put(Cause::launch, busy.launch);
  put(Cause::host, all - lanes);
  put(Cause::tensor, busy.of(tensor) + (at_tensor - sends));
  put(Cause::context, busy.of(context) + (at_context - at_tensor));
  put(Cause::expert, busy.of(expert) + (at_expert - at_context));
  put(Cause::data, busy.of(data) + (at_data - at_expert));
  put(Cause::offload, busy.of(Lane::host) + (lanes - at_data));
  put(Cause::pipeline_send, sends - none);
  put(Cause::pipeline_bubble, none - busy.total());
  put(Cause::optimizer, busy.optimizer);
  return breakdown_of(program, causes, all * (cost.straggler() - 1.0));
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
  timeline.hardware_flops = executed_flops(timeline.ops);
  return timeline;
}

std::vector<Occupancy> occupancy(const StepProgram& program, CostModel& cost) {
  const BlockTimes times = time_blocks(program, cost);
  std::vector<Occupancy> blocks;
  for (std::size_t b = 0; b < times.size(); ++b) {
    Occupancy& block = blocks.emplace_back();
    for (std::size_t o = 0; o < times[b].size(); ++o) {
      const Op& op = program.blocks[b].ops[o];
      const OpTime& time = times[b][o];
      const Seconds hidden = time.device * (op.lane == Lane::compute ? 0.0 : op.hidden);
      block.host += time.host;
      block.compute += time.device - hidden + hidden * cost.tax();
      block.work += time.work;
    }
  }
  std::vector<Occupancy> out;
  for (const RankClass& one : program.classes) {
    std::vector<std::int64_t> calls(program.blocks.size(), 0);
    count_calls(program, one.sequence, 1, calls);
    Occupancy& sum = out.emplace_back();
    for (std::size_t b = 0; b < calls.size(); ++b) {
      sum.host += blocks[b].host * static_cast<double>(calls[b]);
      sum.compute += blocks[b].compute * static_cast<double>(calls[b]);
      sum.work += blocks[b].work * static_cast<double>(calls[b]);
    }
  }
  return out;
}

Seconds step_time(const StepProgram& program, CostModel& cost) {
  return Timed(program, cost).makespan(Waits{}) * cost.straggler();
}

} // namespace clustersim
