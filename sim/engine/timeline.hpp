#pragma once
// A step program timed: what both engines answer.

#include "engine/cost_model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// One operator over the whole step, for reports.
struct OpRecord {
  std::string block, name;
  Phase phase = Phase::forward;
  std::int64_t calls = 0;
  OpTime each;
  Flops model_flops; // per call
  Lane lane = Lane::compute;
  double hidden = 0.0; // share of a collective that may run beside the compute lane
  std::optional<Axis> axis = std::nullopt; // of a collective
  bool of_host = false;                    // a copy to or from the host, or its update
};

/// Whether the chip works in a share of the step, or waits.
enum class Activity { working, waiting };

/// Seconds of the step by cause, exposed time only; sums to the step time by construction.
struct BreakdownItem {
  std::string name; // "matrix", "memory_bound", "launch", "host", "tensor_parallel", …
  Seconds time;
  Activity activity = Activity::working;
};

struct Timeline {
  Seconds step;
  std::vector<BreakdownItem> breakdown; // fixed order
  std::vector<OpRecord> ops;            // program order, slowest class
  Flops hardware_flops;                 // executed by one rank
};

} // namespace clustersim
