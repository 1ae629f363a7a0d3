#include "plan/schedule.hpp"

#include "base/bug.hpp"
#include "plan/dual_pipe.hpp"

#include <algorithm>
#include <cstddef>

namespace clustersim {
namespace {

using Kind = Task::Kind;

std::vector<Task> gpipe(const PipelineSchedule& schedule) {
  std::vector<Task> order;
  for (std::int64_t i = 0; i < schedule.micro_batches; ++i)
    order.push_back({Kind::forward, 0, i});
  for (std::int64_t i = schedule.micro_batches - 1; i >= 0; --i)
    order.push_back({Kind::backward, 0, i});
  return order;
}

/// `ahead` forward passes, then forward and backward in turn until both are done `count` times.
/// `forward(i)` and `backward(i)` add what the i-th pass consists of.
template <class Forward, class Backward>
void run_ahead(std::int64_t count, std::int64_t ahead, Forward forward, Backward backward) {
  for (std::int64_t i = 0; i < ahead; ++i)
    forward(i);
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + ahead < count) forward(i + ahead);
    backward(i);
  }
}

/// Narayanan et al. 2021 (arXiv 2104.04473, §2.2): stage p runs ahead by P − 1 − p forward passes.
std::int64_t lead_of(const PipelineSchedule& schedule, int stage) {
  return std::min<std::int64_t>(schedule.micro_batches, schedule.stages - 1 - stage);
}

std::vector<Task> one_f_one_b(const PipelineSchedule& schedule, int stage) {
  std::vector<Task> order;
  run_ahead(
      schedule.micro_batches, lead_of(schedule, stage),
      [&](std::int64_t i) {
        order.push_back({Kind::forward, 0, i});
      },
      [&](std::int64_t i) {
        order.push_back({Kind::backward, 0, i});
      });
  return order;
}

/// Megatron-LM's order of chunks: groups of P micro-batches pass all chunks of a stage in turn.
Task interleaved_task(const PipelineSchedule& schedule, Kind kind, std::int64_t step) {
  const std::int64_t group = std::int64_t{schedule.stages} * schedule.chunks;
  const std::int64_t turn = step % group / schedule.stages;
  const std::int64_t chunk = kind == Kind::forward ? turn : schedule.chunks - 1 - turn;
  return {kind, static_cast<int>(chunk), step / group * schedule.stages + step % schedule.stages};
}

/// The same, §2.2 and figure 4: 2·(P − 1 − p) + (v − 1)·P forward passes ahead.
std::vector<Task> interleaved(const PipelineSchedule& schedule, int stage) {
  const std::int64_t count = schedule.micro_batches * schedule.chunks;
  const std::int64_t lead = 2 * (schedule.stages - 1 - std::int64_t{stage}) +
                            (std::int64_t{schedule.chunks} - 1) * schedule.stages;
  // With one group there is nothing to alternate with: all forward, then all backward.
  const std::int64_t ahead =
      schedule.micro_batches == schedule.stages ? count : std::min(count, lead);
  std::vector<Task> order;
  const auto add = [&](Kind kind) {
    return [&order, &schedule, kind](std::int64_t i) {
      order.push_back(interleaved_task(schedule, kind, i));
    };
  };
  run_ahead(count, ahead, add(Kind::forward), add(Kind::backward));
  return order;
}

/// ZB-H1 (Qi et al. 2023, arXiv 2401.10241, §3 and figure 2): 1F1B whose weight gradients are put
/// off by p micro-batches on stage p, into what would be its wait at the end. A stage then never
/// holds more than the P micro-batches of the first one.
std::vector<Task> zero_bubble(const PipelineSchedule& schedule, int stage) {
  std::vector<Task> order;
  std::int64_t weights = 0;
  run_ahead(
      schedule.micro_batches, lead_of(schedule, stage),
      [&](std::int64_t i) {
        order.push_back({Kind::forward, 0, i});
      },
      [&](std::int64_t i) {
        order.push_back({Kind::input_gradient, 0, i});
        if (i >= stage) order.push_back({Kind::weight_gradient, 0, weights++});
      });
  while (weights < schedule.micro_batches)
    order.push_back({Kind::weight_gradient, 0, weights++});
  return order;
}

} // namespace

std::vector<std::vector<PipePlace>> pipes_of(const PipelineSchedule& schedule) {
  const int pipes = schedule.kind == Schedule::dual_pipe ? 2 : 1;
  std::vector<std::vector<PipePlace>> out(static_cast<std::size_t>(pipes));
  for (int pipe = 0; pipe < pipes; ++pipe) {
    auto& places = out[static_cast<std::size_t>(pipe)];
    const int turns = pipes == 2 ? 1 : schedule.chunks;
    for (int turn = 0; turn < turns; ++turn) {
      for (int stage = 0; stage < schedule.stages; ++stage) {
        places.push_back(pipe == 0 ? PipePlace{stage, turn}
                                   : PipePlace{schedule.stages - 1 - stage, 1});
      }
    }
  }
  return out;
}

std::int64_t per_pipe(const PipelineSchedule& schedule) {
  return schedule.kind == Schedule::dual_pipe ? schedule.micro_batches / 2 : schedule.micro_batches;
}

bool splits_backward(Schedule kind) {
  return kind == Schedule::zero_bubble || kind == Schedule::dual_pipe;
}

std::vector<Task> task_order(const PipelineSchedule& schedule, int stage) {
  if (schedule.stages < 1 || stage < 0 || stage >= schedule.stages || schedule.micro_batches < 1) {
    throw Bug("a pipeline without stages or micro-batches");
  }
  switch (schedule.kind) {
  case Schedule::gpipe:
    return gpipe(schedule);
  case Schedule::one_f_one_b:
    return schedule.chunks > 1 ? interleaved(schedule, stage) : one_f_one_b(schedule, stage);
  case Schedule::zero_bubble:
    return zero_bubble(schedule, stage);
  case Schedule::dual_pipe:
    return dual_pipe_order(schedule, stage);
  }
  throw Bug("unknown pipeline schedule");
}

std::int64_t schedule_period(const PipelineSchedule& schedule) {
  return 2 * std::int64_t{schedule.stages};
}

PipelineSchedule shortened(const PipelineSchedule& schedule) {
  const std::int64_t period = schedule_period(schedule);
  const std::int64_t settled = 3 * period;
  PipelineSchedule out = schedule;
  if (schedule.micro_batches > settled + period) {
    out.micro_batches = settled + schedule.micro_batches % period;
  }
  return out;
}

std::vector<std::int64_t> in_flight(const PipelineSchedule& schedule, int stage,
                                    const std::vector<double>& weights) {
  // GPipe holds every micro-batch; the others settle, so a shorter run shows the same peak.
  std::vector<std::int64_t> held(weights.size(), 0);
  if (schedule.kind == Schedule::gpipe) {
    held.assign(weights.size(), schedule.micro_batches);
    return held;
  }
  std::vector<std::int64_t> most = held;
  double now = 0.0;
  double peak = -1.0;
  for (const Task& task : task_order(shortened(schedule), stage)) {
    const auto chunk = static_cast<std::size_t>(task.chunk);
    if (task.kind == Kind::input_gradient) continue;
    const int change = task.kind == Kind::forward ? 1 : -1;
    held.at(chunk) += change;
    now += change * weights.at(chunk);
    if (now > peak) {
      peak = now;
      most = held;
    }
  }
  return most;
}

} // namespace clustersim
