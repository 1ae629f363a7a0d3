// The event engine on large jobs, by Google Benchmark: whole steps, and stream events per second.

#include "engine/event.hpp"
#include "plan/lower.hpp"
#include "spec/load.hpp"

#include <benchmark/benchmark.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace clustersim;

namespace {

Scenario scenario_with(const std::vector<std::string>& settings) {
  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  Diagnostics diagnostics;
  const auto scenario = load_scenario(std::string{CLUSTERSIM_SOURCE_DIR} + "/configs/dgx_h100.toml",
                                      catalogue, {settings}, diagnostics);
  if (!scenario) throw std::runtime_error(render(diagnostics, false));
  return *scenario;
}

/// Llama 3 405B on 16,384 H100: TP 8, PP 16, DP 128, as Meta trained it at a sequence of 8192.
Scenario llama_405b() {
  return scenario_with({"model=llama-3.1-405b", "cluster.nodes=2048", "plan.tensor=8",
                        "plan.pipeline=16", "plan.data=128", "plan.virtual_stages=1",
                        "training.global_batch=2048"});
}

void run(benchmark::State& state, const Scenario& scenario, const EventOptions& options) {
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const StepProgram program = lower(scenario);
  double events = 0.0, sets = 0.0;
  for (auto _ : state) {
    const EventRun result = run_event(program, cost, options);
    events += static_cast<double>(result.events);
    sets = static_cast<double>(result.flow_sets);
    benchmark::DoNotOptimize(result.timeline.step);
  }
  state.counters["stream_events"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["flow_solves"] = sets;
}

void llama_405b_whole(benchmark::State& state) {
  run(state, llama_405b(), {});
}
BENCHMARK(llama_405b_whole)->Unit(benchmark::kMillisecond);

/// Every call of every operator.
void llama_405b_call_by_call(benchmark::State& state) {
  run(state, llama_405b(), {true, false, 0});
}
BENCHMARK(llama_405b_call_by_call)->Unit(benchmark::kMillisecond);

/// Routes and collectives of 16,384 chips included.
void llama_405b_from_nothing(benchmark::State& state) {
  const Scenario scenario = llama_405b();
  for (auto _ : state) {
    Network network(scenario.cluster);
    CostModel cost(scenario, network);
    benchmark::DoNotOptimize(run_event(lower(scenario), cost).timeline.step);
  }
}
BENCHMARK(llama_405b_from_nothing)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
