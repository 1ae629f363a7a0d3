#pragma once
// One plan rated, and what it cannot be better than.

#include "engine/analytic.hpp"
#include "study/search.hpp"

#include <optional>

namespace clustersim {

/// Lower bounds that all arrangements of a cell share: what one micro-batch costs one rank that
/// holds the whole model.
struct CellFloor {
  struct Parts {
    Occupancy whole, layer, layer_forward, head; // a layer: zero where layers differ
  };
  Parts plain, split; // split: with backward in two parts
  double score = 0.0; // of any arrangement
};

class PlanRater {
public:
  PlanRater(const Scenario& scenario, Objective objective);

  [[nodiscard]] CellFloor floor_of(const PlanCell& cell);
  /// No plan of this arrangement scores, or takes, less.
  [[nodiscard]] Seconds least_step(const CellFloor& floor, const Plan& plan) const;
  [[nodiscard]] double least_score(const CellFloor& floor, const Plan& plan) const;

  /// Empty key if the plan can be run.
  [[nodiscard]] Refusal refusal(const Plan& plan);
  /// What the following rate; a plan that can be run.
  void take(const Plan& plan);
  /// Bytes that it lacks on a chip, at most 0 if it fits.
  [[nodiscard]] Bytes least_shortage();
  [[nodiscard]] FoundPlan sized(); // without a time
  [[nodiscard]] FoundPlan timed(FoundPlan sized);
  void add_energy_and_cost(FoundPlan& found);

private:
  [[nodiscard]] CellFloor::Parts parts(Schedule schedule);
  [[nodiscard]] double micro_batches_of(const Plan& plan) const;
  [[nodiscard]] Seconds least_of_equal_stages(const CellFloor::Parts& parts, const Plan& plan,
                                              double micro_batches) const;
  [[nodiscard]] double score_of(Seconds step, Joules chip_work, Bytes used) const;
  [[nodiscard]] Joules energy_of_step(Seconds step, Joules chip_work) const;
  [[nodiscard]] Dollars cost_of(Seconds step, Joules energy) const;
  [[nodiscard]] bool needs_energy() const;
  [[nodiscard]] Joules work_of(const Timeline& timeline) const;

  Scenario scenario_;
  Objective objective_;
  std::int64_t vocabulary_;
  Network network_;
  CostModel cost_;
};

} // namespace clustersim
