#pragma once
// A made-up chip with round figures, so that every expectation can be written as a formula.

#include "law/device.hpp"

namespace clustersim::test {

inline Chip round_chip() {
  Chip chip;
  chip.id = "round";
  chip.compute_units = 100;
  for (const Precision p : {Precision::fp16, Precision::bf16})
    chip.matrix[p] = FlopsPerSecond{300e12};
  chip.matrix[Precision::tf32] = FlopsPerSecond{150e12};
  chip.vector[Precision::fp32] = FlopsPerSecond{20e12};
  chip.memory.bandwidth = BytesPerSecond{2e12};
  chip.l2 = {Bytes{40e6}, BytesPerSecond{8e12}};
  chip.power.tdp = Watts{400.0};

  KernelCalibration& k = chip.kernels;
  for (const Precision p : {Precision::fp16, Precision::bf16})
    k.gemm.sustained[p] = 0.8;
  k.gemm.burst[Precision::bf16] = 0.85;
  k.gemm.sustained[Precision::fp32] = 0.9;
  k.gemm.ceiling = 0.9;
  k.gemm.start = Seconds{4e-6};
  k.gemm.split_start = Seconds{1e-6};
  k.gemm.memory_fraction = 0.75;
  k.gemm.extra_k = 128;
  k.gemm.tiles = {{256, 128}};
  k.gemm.l2_reuse = 100.0; // out of the way
  k.attention = {{"flash-2", {{64, 0.5}, {128, 0.6}}, {{64, 0.4}, {128, 0.5}}, Seconds{8e-6}, {}}};
  k.memory.copy = 0.85;
  k.memory.classes.fill(0.5);
  k.memory.half_size = Bytes{2e6};
  k.memory.start = Seconds{1e-6};
  k.launch = {Seconds{2e-6}, Seconds{0.5e-6}};
  k.power = {0.25, 2.0, 0.2, Watts{400.0}, FlopsPerSecond{300e12}};
  return chip;
}

inline Stack flash_stack() {
  Stack stack;
  stack.attention_kernel = "flash-2";
  return stack;
}

inline Device device_of(const Chip& chip) {
  return make_device(chip, flash_stack(), {});
}
inline Device round_device() {
  return device_of(round_chip());
}

/// The chip λ times as fast in everything that takes time.
inline Chip faster(Chip chip, double factor) {
  for (const Precision p : all_precisions) {
    if (chip.matrix[p]) *chip.matrix[p] *= factor;
    if (chip.vector[p]) *chip.vector[p] *= factor;
  }
  chip.memory.bandwidth *= factor;
  chip.l2.bandwidth *= factor;
  chip.kernels.power.reference_peak *= factor;
  KernelCalibration& k = chip.kernels;
  for (Seconds* latency :
       {&k.gemm.start, &k.gemm.split_start, &k.attention[0].start, &k.attention[0].wave,
        &k.memory.start, &k.launch.stream_gap, &k.launch.graph_gap}) {
    *latency /= factor;
  }
  return chip;
}

} // namespace clustersim::test
