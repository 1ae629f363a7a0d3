#pragma once
// What happened when: the event engine keeps it where a trace is asked for.

#include "plan/step_program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace clustersim {

/// Collectives at work: the one that blocks the compute lane, then the head of each other lane.
inline constexpr std::size_t flow_slots = lane_count;

struct FlowSet {
  std::array<double, flow_slots> speed{}; // of each: 1 = as fast as alone
  std::vector<double>
      use; // of the busiest edge of each link class, by class: share of its capacity
};

/// What ran from when to when; host spans are not kept.
struct Span {
  std::uint32_t stage = 0, block = 0, op = 0;
  Lane lane = Lane::compute;
  double start = 0.0, end = 0.0;
};
struct UseChange { // the flows that run changed
  std::uint32_t stage = 0;
  double at = 0.0;
  std::size_t set = 0;
};
struct PassEnd { // of a pipeline stage
  std::uint32_t stage = 0;
  std::size_t sequence = 0;
  double at = 0.0;
};
struct Recorder {
  std::size_t most_spans = 0;
  std::vector<Span> spans;
  std::vector<PassEnd> passes;
  std::vector<UseChange> changes;
  bool full = false;
  std::int64_t micro_batches = 0; // of a pipeline: of the schedule that is shown
  [[nodiscard]] bool takes_more() {
    full = full || spans.size() >= most_spans || changes.size() >= most_spans;
    return !full;
  }
};

} // namespace clustersim
