#pragma once
// Schedules of many micro-batches from shorter ones: what adds up over a step is linear in the
// micro-batches once the schedule repeats itself and its slowest cycle leads
// (docs/explanation/pipeline.md).

#include "plan/schedule.hpp"

#include <cmath>
#include <cstdint>

namespace clustersim {

[[nodiscard]] constexpr double seconds_of(double seconds) {
  return seconds;
}

/// So many passes of all stages are run whole.
inline constexpr std::int64_t passes_run_whole = 16384;

/// `run(schedule)` for the whole schedule. Schedules grow until two periods take equally long;
/// where two cycles are so close that `longest` does not tell them apart, neither does the result.
/// Values have +, −, and · number; `seconds_of(value)` is the time of it.
template <class Run>
auto settled(const PipelineSchedule& whole, const Run& run) {
  constexpr std::int64_t longest = 16; // periods
  constexpr double equal = 1e-10;
  if (whole.micro_batches <= passes_run_whole / (std::int64_t{whole.stages} * whole.chunks))
    return run(whole);
  const std::int64_t period = schedule_period(whole);
  PipelineSchedule now = shortened(whole);
  for (std::int64_t grown = 4;; grown *= 2) {
    if (now.micro_batches + 2 * period >= whole.micro_batches) return run(whole);
    const auto base = run(now);
    now.micro_batches += period;
    const auto first = run(now) - base;
    now.micro_batches += period;
    const auto second = run(now) - base - first;
    const bool still = std::abs(seconds_of(second) - seconds_of(first)) <= equal * seconds_of(base);
    if (still || grown > longest) {
      const std::int64_t periods = (whole.micro_batches - now.micro_batches) / period;
      return base + first + second * static_cast<double>(periods + 1);
    }
    now.micro_batches += grown * period;
  }
}

} // namespace clustersim
