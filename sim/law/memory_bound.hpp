#pragma once
// Memory-bound kernels (docs/explanation/memory-bound.md):
//
//   t = kernels · (gap + start) + V / (BW · fraction(class) · class_factor · V/(V + n_half))
//
// V in bytes over `kernels` launches; tensors that fit in L2 run at L2 bandwidth if that is faster.

#include "law/device.hpp"

namespace clustersim {

struct MemoryKernel {
  KernelClass kernel_class = KernelClass::elementwise;
  Bytes traffic;      // read and written, all launches together
  Flops vector_flops; // outside the matrix units, FP32
  int kernels = 1;
  friend auto operator<=>(const MemoryKernel&, const MemoryKernel&) = default;
};

[[nodiscard]] KernelTime memory_kernel_time(const MemoryKernel& kernel, const Device& device);

} // namespace clustersim
