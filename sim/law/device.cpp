#include "law/device.hpp"

#include "base/bug.hpp"

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

} // namespace

std::string attention_kernel_for(const Chip& chip, const Stack& stack) {
  const auto offered = [&chip](const std::string& name) {
    return name == "unfused" ||
           std::ranges::any_of(chip.kernels.attention,
                               [&name](const AttentionRate& rate) { return rate.kernel == name; });
  };
  if (offered(stack.attention_kernel)) return stack.attention_kernel;
  const auto found = std::ranges::find_if(stack.attention_fallbacks, offered);
  return found == stack.attention_fallbacks.end() ? "unfused" : *found;
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

Device make_device(const Chip& chip, const Stack& stack, const PowerLimits& power,
                   const ResourceScale& scale, Condition condition) {
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
      const auto& burst = gemm.burst[path->precision];
      const double reached = condition == Condition::burst && burst
                                 ? *burst
                                 : fraction_of(gemm.sustained, path->precision);
      const double ceiling = std::max(gemm.ceiling, reached);
      const FlopsPerSecond peak = path->peak * scale.matrix;
      device.matrix_peak[p] = peak * device.clock;
      device.matrix_sustained[p] = peak * std::min(reached * clock, ceiling);
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
  device.class_factor = stack.class_factor;
  device.kernels = chip.kernels;
  device.attention_kernel = attention_kernel_for(chip, stack);
  return device;
}

} // namespace clustersim
