#pragma once
// A chip as the kernel laws see it: peaks, bandwidths and constants after the power cap, the stack's
// choices and any what-if scaling.

#include "base/precision.hpp"
#include "spec/chip.hpp"
#include "spec/resources.hpp"
#include "spec/scenario.hpp"

#include <vector>

namespace clustersim {

struct Device {
  int compute_units = 1;
  PrecisionTable<FlopsPerSecond> matrix_peak;      // dense, at the clock the cap leaves
  PrecisionTable<FlopsPerSecond> matrix_sustained; // peak · sustained fraction
  PrecisionTable<FlopsPerSecond> vector_peak;
  BytesPerSecond memory;                           // data-sheet DRAM bandwidth
  BytesPerSecond l2;
  Bytes l2_capacity;
  Seconds gap;                                     // between kernels, by launch mode
  double start_scale = 1.0;                        // what-if on start and drain
  double class_factor = 1.0;
  KernelCalibration kernels;
  std::string attention_kernel;                    // what this stack runs on this chip, or "unfused"
};

[[nodiscard]] Device make_device(const Chip& chip, const Stack& stack, const PowerLimits& power,
                                 const ResourceScale& scale = {});

/// Which roof an operator's time comes from.
enum class Roof { matrix, vector, l2, memory, launch };
[[nodiscard]] std::string_view name_of(Roof roof);

/// The time of one operator on one chip and its parts. Parts are roofs, not addends:
/// total = gap + start + norm6(matrix, memory, …), see docs/explanation/roofline.md.
struct KernelTime {
  Seconds total;
  Seconds matrix, vector, l2, memory; // each roof alone
  Seconds launch;                     // gap, start and drain: always paid
  Roof binding = Roof::memory;
  Flops flops;                        // executed
  Bytes traffic;                      // compulsory DRAM traffic
};

} // namespace clustersim
