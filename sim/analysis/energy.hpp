#pragma once
// Where the energy of a step goes on one chip (docs/explanation/power.md). A board draws idle power
// all the time and each operator adds its own: kernels by what they compute and move, collectives
// by the memory traffic of what they send and receive. Operators are those of the busiest rank.

#include "engine/analytic.hpp"

#include <string>
#include <vector>

namespace clustersim {

struct EnergyItem {
  std::string name; // "forward", "recompute", "backward", "optimizer", "communication", "waiting"
  Joules energy;
};

struct ChipEnergy {
  std::vector<EnergyItem> items; // of one step; they sum to average · step
  Watts average;                 // over the step
  Watts busy;                    // while the chip works or communicates
};

/// Of hosts, fans and conversion in each node: what its rating has beyond its chips' TDP.
[[nodiscard]] Watts beside_the_chips(const Scenario& scenario);
/// Of all nodes of the scenario's partition, PUE included, when a chip of theirs draws `chip`.
[[nodiscard]] Joules site_energy(const Scenario& scenario, Watts chip, Seconds time);

[[nodiscard]] ChipEnergy chip_energy(const Timeline& timeline, const EnergyRates& rates);

} // namespace clustersim
