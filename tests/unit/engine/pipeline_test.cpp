// Pipeline schedules against the formulas of their papers, and uneven stages against a replay of
// the task graph.

#include "engine/analytic.hpp"
#include "engine/pipeline_run.hpp"
#include "plan/lower.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

/// Forward, input gradient and weight gradient of one chunk.
struct Durations {
  double forward = 1, inputs = 1, weights = 1;
};

/// A program whose passes last what they are told, without an operator in it.
struct Bench {
  StepProgram program;
  std::vector<Clocks> maps;

  std::size_t pass(double duration) {
    Clocks map;
    map.delay(compute_clock, duration);
    maps.push_back(map);
    program.sequences.emplace_back();
    return maps.size() - 1;
  }
};

using StageDurations = std::vector<std::vector<Durations>>; // by stage and chunk

Bench bench(const PipelineSchedule& schedule, const StageDurations& durations) {
  Bench out;
  out.program.pipeline = schedule;
  const std::size_t update = out.pass(0.0);
  for (const std::vector<Durations>& stage : durations) {
    RankClass one{.name = "stage", .ranks = 1, .sequence = update, .prologue = update};
    for (const Durations& time : stage) {
      ChunkPasses passes;
      passes.first_forward = passes.forward = out.pass(time.forward);
      passes.backward = passes.last_backward = out.pass(time.inputs + time.weights);
      passes.input_gradient = out.pass(time.inputs);
      passes.weight_gradient = passes.last_weight_gradient = out.pass(time.weights);
      one.chunks.push_back(passes);
    }
    out.program.classes.push_back(std::move(one));
  }
  return out;
}

StageDurations uniform(const PipelineSchedule& schedule, Durations each) {
  return StageDurations(static_cast<std::size_t>(schedule.stages),
                        std::vector<Durations>(static_cast<std::size_t>(schedule.chunks), each));
}

double step_of(const PipelineSchedule& schedule, const StageDurations& durations) {
  const Bench ready = bench(schedule, durations);
  return pipeline_makespan(ready.program, ready.maps, Waits{});
}

double duration_of(const Task& task, const std::vector<Durations>& chunks) {
  const Durations& time = chunks[static_cast<std::size_t>(task.chunk)];
  switch (task.kind) {
  case Task::Kind::forward:
    return time.forward;
  case Task::Kind::backward:
    return time.inputs + time.weights;
  case Task::Kind::input_gradient:
    return time.inputs;
  case Task::Kind::weight_gradient:
    return time.weights;
  }
  return 0.0;
}

/// Earliest starts by recursion over the dependencies: own order, and the neighbour's message.
double replay(const PipelineSchedule& schedule, const StageDurations& durations) {
  std::map<std::tuple<bool, int, int, std::int64_t>, double> sent; // backward, stage, chunk, batch
  const auto pipes = pipes_of(schedule);
  const auto neighbour = [&](int stage, int chunk, int step) -> const PipePlace* {
    for (const auto& pipe : pipes) {
      for (std::size_t i = 0; i < pipe.size(); ++i) {
        if (pipe[i].stage != stage || pipe[i].chunk != chunk) continue;
        const auto at = static_cast<std::int64_t>(i) + step;
        const bool inside = at >= 0 && at < static_cast<std::int64_t>(pipe.size());
        return inside ? &pipe[static_cast<std::size_t>(at)] : nullptr;
      }
    }
    return nullptr;
  };
  std::vector<double> clock(durations.size(), 0.0);
  std::vector<std::vector<Task>> orders;
  for (int s = 0; s < schedule.stages; ++s)
    orders.push_back(task_order(schedule, s));
  std::vector<std::size_t> next(durations.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t s = 0; s < orders.size(); ++s) {
      if (next[s] == orders[s].size()) continue;
      const std::size_t end = next[s] + (orders[s][next[s]].with_next ? 2 : 1);
      double start = clock[s];
      bool ready = true;
      for (std::size_t i = next[s]; i < end; ++i) {
        const Task& task = orders[s][i];
        const bool back = task.kind != Task::Kind::forward;
        if (task.kind == Task::Kind::weight_gradient) continue;
        const PipePlace* from = neighbour(static_cast<int>(s), task.chunk, back ? 1 : -1);
        if (from == nullptr) continue;
        const auto message = sent.find({back, from->stage, from->chunk, task.micro_batch});
        ready = ready && message != sent.end();
        if (ready) start = std::max(start, message->second);
      }
      if (!ready) continue;
      clock[s] = start;
      for (std::size_t i = next[s]; i < end; ++i)
        clock[s] += duration_of(orders[s][i], durations[s]);
      for (; next[s] < end; ++next[s]) {
        const Task& task = orders[s][next[s]];
        if (task.kind == Task::Kind::weight_gradient) continue;
        sent[{task.kind != Task::Kind::forward, static_cast<int>(s), task.chunk,
              task.micro_batch}] = clock[s];
      }
      moved = true;
    }
  }
  for (std::size_t s = 0; s < orders.size(); ++s)
    REQUIRE(next[s] == orders[s].size());
  return *std::max_element(clock.begin(), clock.end());
}

} // namespace

TEST_CASE("GPipe and 1F1B: a bubble of (P - 1) forward and backward passes") {
  // Huang et al. 2019, §2.3; Narayanan et al. 2021 (arXiv 2104.04473), §2.2.1.
  const Durations each{1.0, 1.5, 0.75};
  for (const Schedule kind : {Schedule::gpipe, Schedule::one_f_one_b}) {
    for (const int P : {2, 3, 4, 8}) {
      for (const std::int64_t m : {1, 2, 8, 40, 200}) {
        const PipelineSchedule schedule{kind, P, 1, m};
        const double once = each.forward + each.inputs + each.weights;
        CHECK(step_of(schedule, uniform(schedule, each)) ==
              close_to((static_cast<double>(m) + P - 1) * once));
      }
    }
  }
}

TEST_CASE("interleaved 1F1B: the bubble shrinks by the number of chunks") {
  // Narayanan et al. 2021, §2.2.2: (P - 1)·(t_f + t_b) / v.
  const Durations each{1.0, 1.5, 0.5}; // of a chunk
  for (const int P : {2, 4, 8}) {
    for (const int v : {2, 3, 5}) {
      for (const std::int64_t rounds : {1, 2, 6, 40}) {
        const PipelineSchedule schedule{Schedule::one_f_one_b, P, v, rounds * P};
        const double stage = v * (each.forward + each.inputs + each.weights);
        CHECK(step_of(schedule, uniform(schedule, each)) ==
              close_to((static_cast<double>(rounds * P) + (P - 1.0) / v) * stage));
      }
    }
  }
}

TEST_CASE("ZB-H1: weight gradients fill the bubble") {
  // Qi et al. 2023 (arXiv 2401.10241), table 2: (P - 1)·(T_F + T_B - T_W).
  for (const Durations each : {Durations{1, 1, 1}, Durations{1.2, 1.1, 0.9}}) {
    for (const int P : {2, 4, 8}) {
      for (const std::int64_t m : {16, 64, 200}) {
        const PipelineSchedule schedule{Schedule::zero_bubble, P, 1, m};
        const double work = static_cast<double>(m) * (each.forward + each.inputs + each.weights);
        CHECK(step_of(schedule, uniform(schedule, each)) ==
              close_to(work + (P - 1) * (each.forward + each.inputs - each.weights)));
      }
    }
  }
}

TEST_CASE("DualPipe: a quarter of the bubble") {
  // DeepSeek-V3 report (arXiv 2412.19437), table 2: (P/2 - 1)·(F&B + B - 3W), where B is a whole
  // backward pass and F&B one of each at once, here one after the other.
  const Durations each{1, 1, 1};
  const double backward = each.inputs + each.weights;
  for (const int P : {2, 4, 8}) {
    for (const std::int64_t m : {2 * P, 4 * P, 40 * P}) {
      const PipelineSchedule schedule{Schedule::dual_pipe, P, 2, m};
      const double bubble =
          (P / 2 - 1) * ((each.forward + backward) + backward - 3.0 * each.weights);
      CHECK(step_of(schedule, uniform(schedule, each)) ==
            close_to(static_cast<double>(m) * (each.forward + backward) + bubble));
    }
  }
}

TEST_CASE("uneven stages equal the replay of the task graph, also beyond the repeated part") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> duration(0.2, 2.0);
  for (const PipelineSchedule& schedule : {PipelineSchedule{Schedule::gpipe, 4, 1, 9},
                                           PipelineSchedule{Schedule::one_f_one_b, 4, 1, 70},
                                           PipelineSchedule{Schedule::one_f_one_b, 6, 1, 333},
                                           PipelineSchedule{Schedule::one_f_one_b, 4, 3, 120},
                                           PipelineSchedule{Schedule::zero_bubble, 5, 1, 151},
                                           PipelineSchedule{Schedule::dual_pipe, 4, 2, 106}}) {
    for (int round = 0; round < 20; ++round) {
      StageDurations durations = uniform(schedule, {});
      for (auto& stage : durations) {
        for (Durations& each : stage)
          each = {duration(random), duration(random), duration(random)};
      }
      CHECK(step_of(schedule, durations) == close_to(replay(schedule, durations), 1e-9));
    }
  }
}

TEST_CASE("every micro-batch passes every chunk once, forward and backward") {
  for (const PipelineSchedule& schedule : {PipelineSchedule{Schedule::gpipe, 4, 1, 5},
                                           PipelineSchedule{Schedule::one_f_one_b, 4, 1, 1},
                                           PipelineSchedule{Schedule::one_f_one_b, 4, 2, 12},
                                           PipelineSchedule{Schedule::zero_bubble, 4, 1, 3},
                                           PipelineSchedule{Schedule::dual_pipe, 8, 2, 20}}) {
    for (int stage = 0; stage < schedule.stages; ++stage) {
      std::map<std::tuple<int, std::int64_t, int>, int> seen; // chunk, micro-batch, gradient part
      for (const Task& task : task_order(schedule, stage)) {
        if (task.kind == Task::Kind::forward) ++seen[{task.chunk, task.micro_batch, 0}];
        if (task.kind != Task::Kind::forward && task.kind != Task::Kind::weight_gradient)
          ++seen[{task.chunk, task.micro_batch, 1}];
        if (task.kind == Task::Kind::backward || task.kind == Task::Kind::weight_gradient)
          ++seen[{task.chunk, task.micro_batch, 2}];
      }
      CHECK(static_cast<std::int64_t>(seen.size()) == 3 * schedule.chunks * per_pipe(schedule));
      for (const auto& [what, times] : seen)
        CHECK(times == 1);
    }
  }
}

TEST_CASE("micro-batches in flight: P - p under 1F1B, P under ZB-H1, all under GPipe") {
  for (const int P : {2, 4, 8}) {
    for (int p = 0; p < P; ++p) {
      CHECK(in_flight({Schedule::one_f_one_b, P, 1, 100}, p, {1.0}).front() == P - p);
      CHECK(in_flight({Schedule::one_f_one_b, P, 1, 2}, p, {1.0}).front() == std::min(2, P - p));
      CHECK(in_flight({Schedule::zero_bubble, P, 1, 100}, p, {1.0}).front() <= P);
      CHECK(in_flight({Schedule::gpipe, P, 1, 100}, p, {1.0}).front() == 100);
    }
  }
}

TEST_CASE("a pipelined plan: the breakdown sums to the step and no share is negative") {
  Scenario scenario = test::shipped_scenario("dgx_h100");
  scenario.plan.tensor = 4;
  scenario.plan.data = 8;
  scenario.plan.pipeline = 4;
  Network network(scenario.cluster);
  for (const int v : {1, 2, 5}) {
    scenario.plan.virtual_stages = v;
    CostModel cost(scenario, network);
    const StepProgram program = lower(scenario);
    const Timeline timeline = run_analytic(program, cost);
    Seconds sum;
    for (const BreakdownItem& item : timeline.breakdown) {
      CHECK(item.time.si() >= -1e-9);
      sum += item.time;
    }
    CHECK(sum.si() == close_to(step_time(program, cost).si(), 1e-12));
  }
}
