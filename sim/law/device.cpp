#include "law/device.hpp"

#include "base/bug.hpp"
#include "law/energy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace clustersim {

namespace {

// Where work goes when the chip lacks a path, nearest first. Stored width stays the operand's own.
std::span<const Precision> fallbacks(Precision wanted) {
  using enum Precision;
  static constexpr std::array for_fp64{fp64};
  static constexpr std::array for_fp32{fp32};
  static constexpr std::array for_tf32{tf32, fp32};
  static constexpr std::array for_fp16{fp16, bf16, fp32};
  static constexpr std::array for_bf16{bf16, fp16, fp32};
  static constexpr std::array for_fp8{fp8, bf16, fp16, fp32};
  static constexpr std::array for_fp4{fp4, fp8, bf16, fp16, fp32};
  static constexpr std::array for_int8{int8, fp8, fp16, bf16, fp32};
  static constexpr std::array for_int4{int4, int8, fp8, fp16, bf16, fp32};
  switch (wanted) {
  case fp64:
    return for_fp64;
  case fp32:
    return for_fp32;
  case tf32:
    return for_tf32;
  case fp16:
    return for_fp16;
  case bf16:
    return for_bf16;
  case fp8:
    return for_fp8;
  case fp4:
    return for_fp4;
  case int8:
    return for_int8;
  case int4:
    return for_int4;
  }
  throw Bug("unknown precision");
}

// A precision without a sustained figure takes that of the path most like it. The calibration's
// sources say so (docs/explanation/calibration.md, "missing figures").
double fraction_of(const PrecisionTable<double>& fractions, Precision path) {
  using enum Precision;
  static constexpr std::array order{bf16, fp16, tf32, fp32, fp8, int8, fp64, fp4, int4};
  for (const Precision p : fallbacks(path)) {
    if (fractions[p]) return *fractions[p];
  }
  for (const Precision p : order) {
    if (fractions[p]) return *fractions[p];
  }
  throw Bug("calibration without any sustained fraction");
}

const GemmLibrary* library_of(const GemmCalibration& gemm, const std::string& name,
                              Precision precision) {
  const auto found = std::ranges::find_if(gemm.libraries, [&](const GemmLibrary& library) {
    return library.name == name && library.precision == precision;
  });
  return found == gemm.libraries.end() ? nullptr : &*found;
}

/// Shares of the dense peak at one precision: the library's, else the family's.
struct GemmShares {
  double unit = 0, early = 0, steady = 0;
};

GemmShares shares_of(const GemmCalibration& gemm, const GemmLibrary* library, Precision path,
                     Condition condition) {
  const GemmLibrary none;
  const GemmLibrary& own = library != nullptr ? *library : none;
  GemmShares shares;
  shares.steady = own.sustained.value_or(fraction_of(gemm.sustained, path));
  const double burst =
      own.burst ? *own.burst : std::max(gemm.burst[path].value_or(shares.steady), shares.steady);
  shares.unit = own.unit          ? *own.unit
                : gemm.unit[path] ? *gemm.unit[path]
                                  : std::max({gemm.ceiling, shares.steady, burst});
  const auto& loop = gemm.loop[path];
  if (condition == Condition::loop && loop) shares.steady = *loop;
  const bool falls = condition == Condition::burst || (condition == Condition::loop && loop);
  shares.early = falls ? burst : shares.steady;
  return shares;
}

GemmRates gemm_rates(const Chip& chip, const MatrixPath& path, const Occasion& occasion,
                     double clock, const ResourceScale& scale) {
  const GemmCalibration& gemm = chip.kernels.gemm;
  const GemmLibrary* library = library_of(gemm, occasion.gemm_library, path.precision);
  const GemmShares shares = shares_of(gemm, library, path.precision, occasion.condition);
  const double data = occasion.data == OperandData::easy    ? gemm.easy_data
                      : occasion.data == OperandData::still ? gemm.still_data
                                                            : 1.0;
  const FlopsPerSecond peak = path.peak * scale.matrix;
  const auto within_power = [&](double share) {
    return peak * std::min(share * clock * data, std::max({gemm.ceiling, shares.unit, share}));
  };
  GemmRates rates;
  rates.unit = peak * shares.unit;
  rates.early = within_power(shares.early);
  rates.steady = std::min(within_power(shares.steady), rates.early);
  const bool looping = occasion.condition == Condition::loop;
  rates.boost = (looping ? gemm.loop_boost : gemm.boost) / scale.matrix;
  rates.energy = matrix_energy(chip, rates.unit, peak * (shares.steady * data));
  rates.start = library != nullptr ? library->start.value_or(gemm.start) : gemm.start;
  if (chip.structured_sparsity) rates.sparse = 2.0 * gemm.sparse;
  if (const auto& fast = chip.matrix_accumulate_16[path.precision]) {
    rates.accumulate_16 = std::max(1.0, *fast / path.peak);
  }
  if (library != nullptr) rates.cast = chip.memory.bandwidth * (scale.memory * library->cast);
  return rates;
}

} // namespace

std::string attention_kernel_for(const Chip& chip, const Stack& stack) {
  const auto offered = [&chip](const std::string& name) {
    return name == unfused_attention ||
           std::ranges::any_of(chip.kernels.attention,
                               [&name](const AttentionRate& rate) { return rate.kernel == name; });
  };
  if (offered(stack.attention_kernel)) return stack.attention_kernel;
  const auto found = std::ranges::find_if(stack.attention_fallbacks, offered);
  return found == stack.attention_fallbacks.end() ? std::string{unfused_attention} : *found;
}

Roof longest_roof(const KernelTime& time) {
  const Seconds most = std::max({time.matrix, time.vector, time.l2, time.memory, time.launch});
  return most == time.matrix   ? Roof::matrix
         : most == time.memory ? Roof::memory
         : most == time.l2     ? Roof::l2
         : most == time.vector ? Roof::vector
                               : Roof::launch;
}

std::string_view name_of(Condition condition) {
  switch (condition) {
  case Condition::sustained:
    return "sustained";
  case Condition::burst:
    return "burst";
  case Condition::loop:
    return "loop";
  }
  throw Bug("unknown condition");
}

std::string_view name_of(OperandData data) {
  switch (data) {
  case OperandData::random:
    return "random";
  case OperandData::easy:
    return "easy";
  case OperandData::still:
    return "still";
  }
  throw Bug("unknown operand data");
}

std::string_view name_of(Roof roof) {
  switch (roof) {
  case Roof::matrix:
    return "matrix";
  case Roof::vector:
    return "vector";
  case Roof::l2:
    return "l2";
  case Roof::memory:
    return "memory";
  case Roof::launch:
    return "launch";
  }
  throw Bug("unknown roof");
}

std::optional<MatrixPath> path_of(const Chip& chip, Precision wanted) {
  for (const Precision p : fallbacks(wanted)) {
    if (chip.matrix[p]) return MatrixPath{p, *chip.matrix[p]};
    if (chip.vector[p]) return MatrixPath{p, *chip.vector[p]};
  }
  return std::nullopt;
}

double clock_under_cap(Watts cap, const Chip& chip) {
  const PowerCalibration& power = chip.kernels.power;
  const Watts tdp = chip.power.tdp;
  const auto path = path_of(chip, Precision::bf16);
  if (!path || tdp.si() <= 0.0) return 1.0;
  const bool own = power.reference_tdp.si() <= 0.0 || power.reference_peak.si() <= 0.0;
  const Watts reference_tdp = own ? tdp : power.reference_tdp;
  const FlopsPerSecond reference_peak = own ? path->peak : power.reference_peak;
  const auto budget = (cap - tdp * power.fixed) / path->peak;
  const auto reference = reference_tdp * (1.0 - power.fixed) / reference_peak;
  if (budget.si() <= 0.0) return power.minimum_clock;
  return std::max(power.minimum_clock, std::pow(budget / reference, 1.0 / power.exponent));
}

Watts switching_power(const Chip& chip) {
  const PowerCalibration& law = chip.kernels.power;
  const auto path = path_of(chip, Precision::bf16);
  const bool own = law.reference_tdp.si() <= 0.0 || law.reference_peak.si() <= 0.0 || !path;
  const Watts most = own ? chip.power.tdp : law.reference_tdp * (path->peak / law.reference_peak);
  return most * (1.0 - law.fixed);
}

Watts busy_power(const Chip& chip, const PowerLimits& power) {
  const Watts tdp = chip.power.tdp;
  const Watts cap = std::min(power.cap.value_or(tdp), tdp);
  if (!path_of(chip, Precision::bf16) || tdp.si() <= 0.0) return cap;
  const PowerCalibration& law = chip.kernels.power;
  const Watts least =
      tdp * law.fixed + switching_power(chip) * std::pow(law.minimum_clock, law.exponent);
  return std::min(std::max(cap, least), tdp);
}

Device make_device(const Chip& chip, const Stack& stack, const PowerLimits& power,
                   const ResourceScale& scale, const Occasion& occasion) {
  Device device;
  const GemmCalibration& gemm = chip.kernels.gemm;
  const Watts cap = power.cap ? std::min(*power.cap, chip.power.tdp) : chip.power.tdp;
  const double clock = clock_under_cap(cap, chip);
  const double most = std::max(1.0, gemm.ceiling / fraction_of(gemm.sustained, Precision::bf16));
  device.board_clock = std::min(clock_under_cap(chip.power.tdp, chip), most);
  device.clock = std::min(clock, most) / device.board_clock;
  device.compute_units = std::max(1, chip.compute_units);
  for (const Precision p : all_precisions) {
    if (const auto path = path_of(chip, p)) {
      const GemmRates rates = gemm_rates(chip, *path, occasion, clock, scale);
      device.gemm_rates[p] = rates;
      device.matrix_peak[p] = path->peak * (scale.matrix * device.clock);
      device.matrix_sustained[p] = std::min(rates.early, rates.unit);
    }
    if (chip.vector[p]) device.vector_peak[p] = *chip.vector[p] * (device.clock * scale.vector);
  }
  device.memory = chip.memory.bandwidth * scale.memory;
  device.l2 = chip.l2.bandwidth * (device.clock * scale.l2);
  device.l2_capacity = chip.l2.capacity;
  device.start_scale = 1.0 / scale.launch;
  const bool captured = stack.launch == LaunchMode::graph;
  const LaunchCalibration& launch = chip.kernels.launch;
  device.gap = (captured ? launch.graph_gap : launch.stream_gap) * device.start_scale;
  device.energy = energy_rates(chip, power, device.clock);
  if (chip.boost_clock) device.core_clock = *chip.boost_clock * device.clock;
  device.class_factor = stack.class_factor;
  device.memory_library = occasion.memory_library;
  device.kernels = chip.kernels;
  device.attention_kernel = attention_kernel_for(chip, stack);
  return device;
}

} // namespace clustersim
