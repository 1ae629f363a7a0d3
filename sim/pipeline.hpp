#pragma once
// load → build → lower → time → explain: one run on one page. Start reading here.

#include "analysis/energy.hpp"
#include "analysis/explain.hpp"
#include "analysis/plan_changes.hpp"
#include "engine/balance.hpp"
#include "engine/engine.hpp"
#include "plan/lower.hpp"
#include "plan/memory.hpp"
#include "spec/scenario.hpp"

#include <memory>
#include <string>
#include <vector>

namespace clustersim {

/// The headline numbers, with the formulas they come from.
struct Headline {
  double tokens_per_second = 0, tokens_per_second_per_chip = 0, samples_per_second = 0;
  Flops model_flops, hardware_flops; // of one step, whole cluster
  FlopsPerSecond rate_per_chip;      // model FLOPs
  double mfu = 0, hfu = 0;
  std::string peak_basis; // "989.4 TFLOP/s dense bf16"
  FlopsPerSecond peak;
};

/// Electrical energy of a step (docs/explanation/power.md).
struct Energy {
  ChipEnergy chip;
  Joules per_step; // whole cluster, hosts in proportion and PUE included
};

/// One of several unlike partitions.
struct PartitionAnswer {
  Scenario scenario; // as seen from there
  PartitionShare share;
  MemoryFootprint memory;
  Timeline timeline; // waiting for the others included
  ChipEnergy energy;
};

struct Answer {
  Scenario scenario;
  std::shared_ptr<const Network> network; // what the timeline's collectives point into
  ParameterCount parameters;
  double trained = 0;     // parameters; all of them unless something is frozen
  MemoryFootprint memory; // of several partitions the one with the least room to spare
  Timeline timeline;      // of several partitions the one that the others wait for
  Headline headline;
  Explanation explanation;
  std::vector<PlanChange> remedies; // only when it does not fit
  Energy energy;
  std::optional<Dollars> electricity_per_step;
  Engine engine = Engine::analytic; // whose timeline it is
  StepProgram program;
  std::optional<EventRun> event;           // when that engine ran
  std::optional<Timeline> analytic;        // of both engines, when they are compared
  std::optional<Balance> balance;          // of several partitions
  std::vector<PartitionAnswer> partitions; // where there are several
};

struct RunOptions {
  Engine engine = Engine::analytic;
  bool compare_engines = false;
  std::size_t spans = 0; // to keep for a trace; needs the event engine
};
[[nodiscard]] Answer answer(const Scenario& scenario, const RunOptions& options = {});

} // namespace clustersim
