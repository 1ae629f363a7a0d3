#include "engine/pipeline_run.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace clustersim {
namespace {

using Kind = Task::Kind;
using Instants = std::array<double, clock_count>;

/// What a place sends forward and backward for each micro-batch; absent until sent.
class Mail {
public:
  Mail(std::size_t places, std::int64_t micro_batches)
      : micro_batches_(micro_batches),
        arrival_(2 * places * static_cast<std::size_t>(micro_batches)) {}
  [[nodiscard]] std::size_t slot(bool backward, std::size_t place, std::int64_t micro_batch) const {
    return (2 * place + (backward ? 1 : 0)) * static_cast<std::size_t>(micro_batches_) +
           static_cast<std::size_t>(micro_batch);
  }
  [[nodiscard]] std::optional<double>& at(std::size_t slot) { return arrival_[slot]; }

private:
  std::int64_t micro_batches_;
  std::vector<std::optional<double>> arrival_;
};

/// Where a chunk stands: its place counted over all pipes, and whether it is its pipe's end.
struct Standing {
  std::size_t place = 0;
  bool first = false, last = false;
};

std::vector<std::vector<Standing>> standings(const PipelineSchedule& schedule) {
  std::vector<std::vector<Standing>> out(
      static_cast<std::size_t>(schedule.stages),
      std::vector<Standing>(static_cast<std::size_t>(schedule.chunks)));
  std::size_t place = 0;
  for (const std::vector<PipePlace>& pipe : pipes_of(schedule)) {
    for (std::size_t i = 0; i < pipe.size(); ++i, ++place) {
      out[static_cast<std::size_t>(pipe[i].stage)][static_cast<std::size_t>(pipe[i].chunk)] = {
          place, i == 0, i + 1 == pipe.size()};
    }
  }
  return out;
}

/// The sequence of every task in order: first and last passes of a chunk have their own.
std::vector<std::size_t> sequences_of(const std::vector<Task>& order,
                                      const std::vector<ChunkPasses>& chunks) {
  std::vector<bool> begun(chunks.size(), false);
  std::vector<std::size_t> last(chunks.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool final = order[i].kind == Kind::backward || order[i].kind == Kind::weight_gradient;
    if (final) last[static_cast<std::size_t>(order[i].chunk)] = i;
  }
  std::vector<std::size_t> out;
  out.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto chunk = static_cast<std::size_t>(order[i].chunk);
    const ChunkPasses& passes = chunks[chunk];
    switch (order[i].kind) {
    case Kind::forward:
      out.push_back(begun[chunk] ? passes.forward : passes.first_forward);
      begun[chunk] = true;
      break;
    case Kind::backward:
      out.push_back(i == last[chunk] ? passes.last_backward : passes.backward);
      break;
    case Kind::input_gradient:
      out.push_back(passes.input_gradient);
      break;
    case Kind::weight_gradient:
      out.push_back(i == last[chunk] ? passes.last_weight_gradient : passes.weight_gradient);
      break;
    }
  }
  return out;
}

class PipelineRun {
public:
  PipelineRun(const StepProgram& program, const PipelineSchedule& schedule,
              const std::vector<Clocks>& maps, const Waits& waits)
      : maps_(&maps), waits_(waits), standings_(standings(schedule)),
        mail_(program.classes.size() * static_cast<std::size_t>(schedule.chunks),
              per_pipe(schedule)),
        clocks_(program.classes.size()), next_(program.classes.size(), 0) {
    for (std::size_t s = 0; s < program.classes.size(); ++s) {
      orders_.push_back(task_order(schedule, static_cast<int>(s)));
      sequences_.push_back(sequences_of(orders_.back(), program.classes[s].chunks));
      clocks_[s] = maps[program.classes[s].prologue].apply(Instants{});
    }
  }

  double finish() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t s = 0; s < orders_.size(); ++s) {
        while (next_[s] < orders_[s].size() && step(s))
          moved = true;
      }
    }
    double latest = 0.0;
    for (std::size_t s = 0; s < orders_.size(); ++s) {
      if (next_[s] < orders_[s].size()) throw Bug("a pipeline schedule that waits for itself");
      latest = std::max(latest, stopped(clocks_[s]));
    }
    return latest;
  }

private:
  /// Runs the next task of a stage, or two that go together, unless a message is missing.
  bool step(std::size_t stage) {
    const std::vector<Task>& order = orders_[stage];
    const std::size_t first = next_[stage];
    const std::size_t end = first + (order[first].with_next ? 2 : 1);
    Instants& clocks = clocks_[stage];
    double start = clocks[compute_clock];
    for (std::size_t i = first; i < end; ++i) {
      const std::optional<double> arrival = arrival_for(stage, order[i]);
      if (!arrival) return false;
      start = std::max(start, *arrival);
    }
    clocks[compute_clock] = start;
    for (std::size_t i = first; i < end; ++i)
      clocks = (*maps_)[sequences_[stage][i]].apply(clocks);
    for (std::size_t i = first; i < end; ++i)
      send(stage, order[i]);
    next_[stage] = end;
    return true;
  }

  [[nodiscard]] const Standing& standing(std::size_t stage, const Task& task) const {
    return standings_[stage][static_cast<std::size_t>(task.chunk)];
  }
  /// When what the task works on is there; 0 when it needs no message.
  std::optional<double> arrival_for(std::size_t stage, const Task& task) {
    const Standing& at = standing(stage, task);
    const bool forward = task.kind == Kind::forward;
    if (task.kind == Kind::weight_gradient || (forward ? at.first : at.last)) return 0.0;
    const std::size_t from = forward ? at.place - 1 : at.place + 1;
    return mail_.at(mail_.slot(!forward, from, task.micro_batch));
  }
  void send(std::size_t stage, const Task& task) {
    if (task.kind == Kind::weight_gradient) return;
    const Instants& clocks = clocks_[stage];
    double sent = clocks[compute_clock];
    if (waits_.on(Lane::pipeline)) sent = std::max(sent, clocks[clock_of(Lane::pipeline)]);
    mail_.at(mail_.slot(task.kind != Kind::forward, standing(stage, task).place,
                        task.micro_batch)) = sent;
  }

  [[nodiscard]] double stopped(const Instants& clocks) const {
    double latest = clocks[compute_clock];
    if (waits_.host) latest = std::max(latest, clocks[host_clock]);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (waits_.lane[lane]) latest = std::max(latest, clocks[1 + lane]);
    }
    return latest;
  }

  const std::vector<Clocks>* maps_;
  Waits waits_;
  std::vector<std::vector<Standing>> standings_;
  Mail mail_;
  std::vector<Instants> clocks_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<Task>> orders_;
  std::vector<std::vector<std::size_t>> sequences_;
};

/// Short schedules are run whole, the time of a long one follows from shorter ones: linear once the
/// schedule repeats itself and its slowest cycle leads. Schedules grow until two periods take
/// equally long; where two cycles are so close that `longest` does not tell them apart, neither
/// does the result.
template <class Run>
double settled_time(const PipelineSchedule& whole, const Run& run) {
  constexpr std::int64_t longest = 16; // periods
  constexpr double equal = 1e-10;
  constexpr std::int64_t cheap = 16384; // passes of all stages
  if (whole.micro_batches <= cheap / (std::int64_t{whole.stages} * whole.chunks)) return run(whole);
  const std::int64_t period = schedule_period(whole);
  PipelineSchedule now = shortened(whole);
  for (std::int64_t grown = 4;; grown *= 2) {
    if (now.micro_batches + 2 * period >= whole.micro_batches) return run(whole);
    const double base = run(now);
    now.micro_batches += period;
    const double first = run(now) - base;
    now.micro_batches += period;
    const double second = run(now) - base - first;
    if (std::abs(second - first) <= equal * base || grown > longest) {
      const std::int64_t periods = (whole.micro_batches - now.micro_batches) / period;
      return base + first + second * static_cast<double>(periods + 1);
    }
    now.micro_batches += grown * period;
  }
}

PipelineSchedule one_period_more(PipelineSchedule schedule) {
  schedule.micro_batches += schedule_period(schedule);
  return schedule;
}

std::vector<std::int64_t> passes_of(const StepProgram& program, const PipelineSchedule& schedule,
                                    std::size_t stage) {
  std::vector<std::int64_t> counts(program.sequences.size(), 0);
  for (const std::size_t sequence :
       sequences_of(task_order(schedule, static_cast<int>(stage)), program.classes[stage].chunks)) {
    ++counts[sequence];
  }
  return counts;
}

} // namespace

std::vector<std::int64_t> count_passes(const StepProgram& program, std::size_t stage) {
  const PipelineSchedule& whole = *program.pipeline;
  const PipelineSchedule less = shortened(whole);
  std::vector<std::int64_t> counts = passes_of(program, less, stage);
  if (less.micro_batches < whole.micro_batches) {
    const PipelineSchedule more = one_period_more(less);
    const std::vector<std::int64_t> further = passes_of(program, more, stage);
    const std::int64_t periods =
        (whole.micro_batches - less.micro_batches) / schedule_period(whole);
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] += (further[i] - counts[i]) * periods;
  }
  ++counts[program.classes[stage].prologue];
  ++counts[program.classes[stage].sequence];
  return counts;
}

double pipeline_makespan(const StepProgram& program, const std::vector<Clocks>& maps,
                         const Waits& waits) {
  const PipelineSchedule& whole = *program.pipeline;
  const auto run = [&](const PipelineSchedule& schedule) {
    return PipelineRun(program, schedule, maps, waits).finish();
  };
  const double through = settled_time(whole, run);
  double update = 0.0;
  for (const RankClass& one : program.classes) {
    Clocks clocks = maps[one.sequence];
    wait_for_all(clocks, waits);
    update = std::max(update, clocks.finish(compute_clock));
  }
  return through + update;
}

} // namespace clustersim
