#pragma once
// Memory-bound kernels (docs/explanation/memory-bound.md):
//
//   t = kernels · (gap + start) + V / (BW · fraction(class) · class_factor · V/(V + n_half))
//
// V in bytes over `kernels` launches; tensors that fit in L2 run at the rate of a copy within it,
// if that is faster. Kernels of a library with figures of its own (Device::memory_library):
//
//   t = gap + max(floor, start + join(V / (BW · fraction), blocks' makespan))

#include "law/device.hpp"

#include <cstdint>

namespace clustersim {

struct MemoryKernel {
  KernelClass kernel_class = KernelClass::elementwise;
  Bytes traffic;      // read and written, all launches together
  Flops vector_flops; // outside the matrix units, FP32
  int kernels = 1;
  std::int64_t blocks = 0; // rows of which each is one block's; 0 = as many as fill the chip
  friend auto operator<=>(const MemoryKernel&, const MemoryKernel&) = default;
};

/// DRAM bandwidth of a long stream of which the share `written` is writes. A bus that turns around
/// between reads and writes idles each time, so mixed streams are slower; turns are as frequent as
/// the rarer of both:
///   1/f = 1/stream + (1/copy - 1/stream) · 2 · min(written, 1 - written)
[[nodiscard]] BytesPerSecond stream_bandwidth(const Device& device, double written);

[[nodiscard]] KernelTime memory_kernel_time(const MemoryKernel& kernel, const Device& device);

} // namespace clustersim
