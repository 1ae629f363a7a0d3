#pragma once
// What a class does in a step, added up without asking when.

#include "engine/clocks.hpp"
#include "engine/timeline.hpp"

#include <array>
#include <vector>

namespace clustersim {

/// Why the compute lane does not proceed faster, in the order of the breakdown.
enum class Cause {
  compute_bound,
  memory_bound,
  launch,
  host,
  tensor,
  context,
  expert,
  data,
  offload,
  pipeline_send,
  pipeline_bubble,
  optimizer
};
inline constexpr std::size_t cause_count = 12;
using Causes = std::array<double, cause_count>; // seconds
[[nodiscard]] Cause cause_of(Lane lane);
/// What a kernel does beyond its launch, by its binding roof.
[[nodiscard]] Cause cause_of(const KernelTime& kernel, Phase phase);

/// Rows that both engines print; an axis that is not split has none.
[[nodiscard]] std::vector<BreakdownItem> breakdown_of(const StepProgram& program,
                                                      const Causes& causes, Seconds straggler);

/// Seconds of the compute lane by cause, as if nothing ever waited.
class BusyTime {
public:
  BusyTime(const std::vector<OpRecord>& ops, double tax);
  [[nodiscard]] Seconds of(Lane lane) const { return lanes[static_cast<std::size_t>(lane)]; }
  /// Sends excepted: those are left out whole when they are left out.
  [[nodiscard]] Seconds total() const;

  Seconds compute_bound, memory_bound, launch, optimizer;
  std::array<Seconds, lane_count> lanes{};

private:
  void add(const OpRecord& op, double tax);
};

/// Adds to `calls` how often each block runs in `times` runs of a sequence.
void count_calls(const StepProgram& program, std::size_t sequence, std::int64_t times,
                 std::vector<std::int64_t>& calls);

struct BusiestClass {
  std::size_t number = 0;
  std::vector<OpRecord> ops; // in program order
};
[[nodiscard]] BusiestClass busiest_class(const StepProgram& program, const BlockTimes& times,
                                         double tax);
[[nodiscard]] Flops executed_flops(const std::vector<OpRecord>& ops);

} // namespace clustersim
