#include "law/memory_bound.hpp"

#include "base/bug.hpp"
#include "law/roofline.hpp"

#include <algorithm>

namespace clustersim {

namespace {

// V / (BW · r), r = v / (v + n_half) with v of one launch: (V + launches · n_half) / BW.
Seconds streamed(Bytes traffic, Bytes ramp, BytesPerSecond bandwidth) {
  return (traffic + ramp) / bandwidth;
}

} // namespace

KernelTime memory_kernel_time(const MemoryKernel& kernel, const Device& device) {
  if (kernel.kernels < 0 || kernel.traffic.si() < 0.0 || kernel.vector_flops.si() < 0.0) {
    throw Bug("a memory-bound kernel with negative work");
  }
  if (kernel.kernels == 0) return {};
  const MemoryCalibration& constants = device.kernels.memory;
  const double launches = kernel.kernels;
  const double fraction =
      constants.classes[static_cast<std::size_t>(kernel.kernel_class)] * device.class_factor;

  KernelTime time;
  time.traffic = kernel.traffic;
  time.flops = kernel.vector_flops;
  time.memory = streamed(kernel.traffic, constants.half_size * launches, device.memory * fraction);
  const bool resident = kernel.traffic / launches <= device.l2_capacity;
  if (resident && device.l2 > device.memory) { // then nothing streams from DRAM
    time.l2 = kernel.traffic / (device.l2 * fraction);
    time.memory = Seconds{};
  }
  if (const auto& vector = device.vector_peak[Precision::fp32]) {
    time.vector = kernel.vector_flops / *vector;
  }
  time.launch = (device.gap + constants.start * device.start_scale) * launches;
  time.total = time.launch + join_roofs(time.memory, time.l2, time.vector, Seconds{});
  const Seconds longest = std::max({time.memory, time.l2, time.vector});
  time.binding = longest == time.vector ? Roof::vector
                 : longest == time.l2   ? Roof::l2
                                        : Roof::memory;
  if (time.launch > longest) time.binding = Roof::launch;
  return time;
}

} // namespace clustersim
