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

double clock_under_cap(Watts cap, Watts tdp, const PowerCalibration& power) {
  const double budget = cap / tdp - power.fixed;
  const double demand = power.load - power.fixed;
  if (demand <= 0.0 || budget >= demand) return 1.0;
  if (budget <= 0.0) return power.minimum_clock;
  return std::max(power.minimum_clock, std::pow(budget / demand, 1.0 / power.exponent));
}

Device make_device(const Chip& chip, const Stack& stack, const PowerLimits& power,
                   const ResourceScale& scale, Condition condition) {
  Device device;
  device.clock = power.cap ? clock_under_cap(*power.cap, chip.power.tdp, chip.kernels.power) : 1.0;
  device.compute_units = std::max(1, chip.compute_units);
  for (const Precision p : all_precisions) {
    if (const auto path = path_of(chip, p)) {
      const FlopsPerSecond peak = path->peak * (device.clock * scale.matrix);
      const auto& gemm = chip.kernels.gemm;
      const double sustained = fraction_of(gemm.sustained, path->precision);
      const bool burst = condition == Condition::burst && gemm.burst[path->precision];
      device.matrix_peak[p] = peak;
      device.matrix_sustained[p] = peak * (burst ? *gemm.burst[path->precision] : sustained);
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
