#pragma once
// Everything that a report says beyond the Answer itself, worked out once, so that the text and the
// JSON cannot disagree.

#include "pipeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// One whole training run, when `training.tokens` is given.
struct RunTotals {
  double tokens = 0, steps = 0;
  Seconds time;
  Joules energy;
  std::optional<Dollars> electricity;
};

struct Figures {
  std::vector<BreakdownItem> time; // closed: sums to the step exactly, in any order of addition
  std::vector<MemoryTerm> memory;  // the terms and the framework's reserve
  Bytes used;                      // their sum
  double margin_share = 0;         // of the usable memory; negative when it does not fit
  std::int64_t chips = 0, micro_batches = 0;
  double tokens_per_step = 0;
  Joules energy_per_token;
  std::optional<Dollars> electricity_per_million_tokens;
  std::optional<Dollars> rental_per_step,
      rental_per_million_tokens; // where the chip has a cloud price
  std::optional<RunTotals> run;
};

/// Of all calls in a step, hidden or not.
[[nodiscard]] Seconds total_time(const OpRecord& op);

/// Growth of the step against the plan as given; negative = faster.
[[nodiscard]] double slowdown_of(const PlanChange& change, const Answer& answer);

/// Of the range of the step time, as a share of it.
[[nodiscard]] double half_width_of(const Answer& answer);

/// What whole micro-batches cost, as a share of the step with shares that could be cut anywhere.
/// Of the micro-batches of a step.
[[nodiscard]] double share_of(const PartitionAnswer& part, const Answer& answer);
[[nodiscard]] double balance_cost(const Balance& balance);

/// Sentences: the scenario's own, then what every answer rests on.
[[nodiscard]] std::vector<std::string> assumptions_of(const Answer& answer);

[[nodiscard]] Figures figures_of(const Answer& answer);

/// The breakdown moved onto the grid of the step's own floating-point spacing. Every partial sum is
/// then exact, so the parts add up to the step in any order. Throws Bug when they were not close.
[[nodiscard]] std::vector<BreakdownItem> close_breakdown(std::vector<BreakdownItem> items,
                                                         Seconds step);

} // namespace clustersim
