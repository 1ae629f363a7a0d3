#pragma once
// The clocks of one rank (host, compute lane, other lanes) and how operators move them.

#include "engine/cost_model.hpp"
#include "engine/max_plus.hpp"
#include "plan/step_program.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace clustersim {

inline constexpr std::size_t host_clock = 0;
[[nodiscard]] constexpr std::size_t clock_of(Lane lane) {
  return 1 + static_cast<std::size_t>(lane);
}
inline constexpr std::size_t compute_clock = clock_of(Lane::compute);
inline constexpr std::size_t clock_count = 1 + lane_count;
using Clocks = MaxPlus<clock_count>;

/// Which clocks can delay the compute lane: leaving one out and looking at the difference is how
/// waiting time is attributed. Sends between stages are left out whole.
struct Waits {
  bool host = true;
  std::array<bool, lane_count> lane{true, true, true, true, true, true, true};
  [[nodiscard]] bool on(Lane which) const { return lane[static_cast<std::size_t>(which)]; }
};

/// Times of every operator, block by block: the laws are asked once per operator, not once per
/// call.
using BlockTimes = std::vector<std::vector<OpTime>>;
[[nodiscard]] BlockTimes time_blocks(const StepProgram& program, CostModel& cost);

/// One map per block, then one per sequence.
[[nodiscard]] std::vector<Clocks> sequence_maps(const StepProgram& program, const BlockTimes& times,
                                                double tax, const Waits& waits);

/// When every clock has stopped.
void wait_for_all(Clocks& clocks, const Waits& waits);

} // namespace clustersim
