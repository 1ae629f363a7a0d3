#include "law/energy.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

Joules kernel_energy(const KernelTime& time, const EnergyUse& use, const Device& device) {
  const EnergyRates& rates = device.energy;
  const Joules work = use.matrix * use.per_matrix + use.vector * rates.vector +
                      use.dram * rates.dram + use.l2 * rates.l2;
  const Watts most = std::max(Watts{0.0}, rates.limit - rates.idle);
  return rates.idle * time.total + std::min(work, most * (time.total - time.launch));
}

JoulesPerFlop matrix_energy(const Chip& chip, FlopsPerSecond unit, FlopsPerSecond steady) {
  if (unit.si() <= 0.0 || steady.si() <= 0.0) return {};
  const PowerCalibration& law = chip.kernels.power;
  const double full_clock = unit / steady;
  const Watts steadily = std::max(Watts{0.0}, chip.power.tdp * law.fixed - chip.power.idle);
  const Watts dynamic = steadily + switching_power(chip) * std::pow(full_clock, law.exponent);
  return dynamic / unit;
}

Watts matrix_power(const Device& device) {
  const auto& rates = device.gemm_rates[Precision::bf16];
  if (!rates) return device.energy.limit;
  const Watts work = rates->energy * std::min(rates->unit, rates->steady);
  return std::min(device.energy.limit, device.energy.idle + work);
}

EnergyRates energy_rates(const Chip& chip, const PowerLimits& power, double clock) {
  const PowerCalibration& law = chip.kernels.power;
  EnergyRates rates;
  rates.idle = chip.power.idle;
  rates.limit = std::max(busy_power(chip, power), rates.idle);
  rates.vector = law.vector * std::pow(clock, law.exponent - 1.0);
  rates.dram = law.dram;
  if (chip.l2.bandwidth.si() > 0.0) rates.l2 = chip.power.tdp * law.l2 / chip.l2.bandwidth;
  return rates;
}

} // namespace clustersim
