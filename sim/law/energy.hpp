#pragma once
// Energy of one kernel on one board (docs/explanation/power.md):
//
//   E = idle · t + min( Σ energy of its work, (limit - idle) · (t - launch) )
//
// Work costs what it switches: matrix FLOPs (the energy that the clock law implies), vector FLOPs,
// DRAM and L2 bytes. What would exceed the limit lowers the clock instead, which the time already
// holds, so a kernel bound by power draws exactly its limit. Power and clock are one law.

#include "law/device.hpp"

namespace clustersim {

/// What a kernel does, in terms of what costs energy.
struct EnergyUse {
  Flops matrix; // executed, padding included
  JoulesPerFlop per_matrix;
  Flops vector;
  Bytes dram, l2;
};

[[nodiscard]] Joules kernel_energy(const KernelTime& time, const EnergyUse& use,
                                   const Device& device);

/// Energy of matrix work per FLOP with the units at full clock, from the clock law: a load that
/// runs at `steady` of the peak at clock 1 draws
///   idle + dynamic(1),  dynamic(f) = fixed · TDP - idle + switching · f^exponent
/// and the units' full clock is unit / steady of that.
[[nodiscard]] JoulesPerFlop matrix_energy(const Chip& chip, FlopsPerSecond unit,
                                          FlopsPerSecond steady);

/// What a large 16-bit product draws without a cap: the limit, or less on a board whose units are
/// busy before its power is spent.
[[nodiscard]] Watts matrix_power(const Device& device);

[[nodiscard]] EnergyRates energy_rates(const Chip& chip, const PowerLimits& power, double clock);

} // namespace clustersim
