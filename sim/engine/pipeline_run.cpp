#include "engine/pipeline_run.hpp"

#include "base/bug.hpp"
#include "engine/pipeline_walk.hpp"
#include "engine/settled.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace clustersim {

using Kind = Task::Kind;

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

namespace {

using Instants = std::array<double, clock_count>;

/// A stage by its clocks: a pass is a max-plus map.
class ClockedStage {
public:
  ClockedStage(const std::vector<Clocks>& maps, const Waits& waits, std::size_t prologue)
      : maps_(&maps), waits_(waits), clocks_(maps[prologue].apply(Instants{})) {}

  void wait_for(const Message& message) {
    clocks_[compute_clock] = std::max(clocks_[compute_clock], message.arrived);
  }
  void run(std::size_t sequence) { clocks_ = (*maps_)[sequence].apply(clocks_); }
  [[nodiscard]] Message message() const {
    const double computed = clocks_[compute_clock];
    if (!waits_.on(Lane::pipeline)) return {computed, computed};
    return {computed, std::max(computed, clocks_[clock_of(Lane::pipeline)])};
  }
  [[nodiscard]] double stopped() const {
    double latest = clocks_[compute_clock];
    if (waits_.host) latest = std::max(latest, clocks_[host_clock]);
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      if (waits_.lane[lane]) latest = std::max(latest, clocks_[1 + lane]);
    }
    return latest;
  }

private:
  const std::vector<Clocks>* maps_;
  Waits waits_;
  Instants clocks_;
};

double run_once(const StepProgram& program, const PipelineSchedule& schedule,
                const std::vector<Clocks>& maps, const Waits& waits) {
  std::vector<ClockedStage> stages;
  stages.reserve(program.classes.size());
  for (const RankClass& one : program.classes)
    stages.emplace_back(maps, waits, one.prologue);
  PipelineWalk<ClockedStage>(program, schedule, stages).walk();
  double latest = 0.0;
  for (const ClockedStage& stage : stages)
    latest = std::max(latest, stage.stopped());
  return latest;
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
  const double through = settled(whole, [&](const PipelineSchedule& schedule) {
    return run_once(program, schedule, maps, waits);
  });
  double update = 0.0;
  for (const RankClass& one : program.classes) {
    Clocks clocks = maps[one.sequence];
    wait_for_all(clocks, waits);
    update = std::max(update, clocks.finish(compute_clock));
  }
  return through + update;
}

} // namespace clustersim
