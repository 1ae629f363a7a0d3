#pragma once
// The event engine: the step program call by call, on the streams of every rank class, collectives
// as fluid flows that share the links (docs/explanation/event-engine.md). Where nothing contends it
// gives the analytic engine's time, but for the tax of communication, which it takes while
// communication runs and not all at its start.

#include "engine/recorder.hpp"
#include "engine/timeline.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clustersim {

struct EventOptions {
  bool contention = true;     // off: every collective as fast as alone
  bool repeats_rounds = true; // rounds of a loop that repeat themselves are counted, not run
  std::size_t spans = 0;      // to keep for a trace, at most
};

/// A share of the step.
struct StreamUse {
  std::string name; // "compute", "tensor", …
  double busy = 0.0;
};
struct LinkUse {
  LinkClassId link_class;
  double busy = 0.0; // time in which a collective moves bytes over it
  double use = 0.0;  // of the capacity of its busiest edge, on average over the step
};

struct EventRun {
  Timeline timeline;
  std::vector<StreamUse> streams;           // of the busiest class
  std::vector<LinkUse> links;               // likewise; classes that carry something
  std::vector<BreakdownItem> critical_path; // what the longest chain consists of; sums to the step
  std::uint64_t events = 0;                 // operators started and collectives ended
  std::size_t flow_sets = 0;                // solved
  /// For a trace, when asked for: what ran when, up to the number asked for.
  Recorder record;
  std::vector<FlowSet> sets; // what record.changes name
};

[[nodiscard]] EventRun run_event(const StepProgram& program, CostModel& cost,
                                 const EventOptions& options = {});

/// The step time alone.
[[nodiscard]] Seconds event_step_time(const StepProgram& program, CostModel& cost);

} // namespace clustersim
