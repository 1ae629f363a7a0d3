#include "law/memory_bound.hpp"

#include "base/bug.hpp"
#include "law/energy.hpp"
#include "law/roofline.hpp"

#include <algorithm>

namespace clustersim {

namespace {

// V / (BW · r), r = v / (v + n_half) with v of one launch: (V + launches · n_half) / BW.
Seconds streamed(Bytes traffic, Bytes ramp, BytesPerSecond bandwidth) {
  return (traffic + ramp) / bandwidth;
}

/// Tensors stay in L2 up to this share of it: the rest holds what else the chip reads, and halves
/// of a divided L2 keep copies of each other's lines.
constexpr double resident_share = 0.75;

bool resident(const MemoryKernel& kernel, const Device& device) {
  return kernel.traffic / kernel.kernels <= device.l2_capacity * resident_share;
}

const MemoryLibrary* library_of(const MemoryKernel& kernel, const Device& device) {
  const std::vector<MemoryLibrary>& known = device.kernels.memory.libraries;
  const auto found = std::find_if(known.begin(), known.end(), [&](const MemoryLibrary& library) {
    return library.name == device.memory_library && library.kernel_class == kernel.kernel_class;
  });
  return found == known.end() ? nullptr : &*found;
}

/// Of all launches, what compute units take: V / (units · clock · unit_bytes) when blocks fill the
/// chip evenly. Of few equal blocks the longest is one block; of many, a unit has its share and, on
/// average, half a block of tail. Nearer data (`gain`) help only units with several blocks.
Seconds issued(const MemoryKernel& kernel, const MemoryLibrary& library, const Device& device,
               double gain) {
  if (library.unit_bytes <= 0.0 || device.core_clock.si() <= 0.0) return Seconds{};
  const BytesPerSecond rate{library.unit_bytes * device.core_clock.si() * device.compute_units};
  const Seconds even = kernel.traffic / rate;
  if (kernel.blocks <= 0) return even / gain;
  const double share = static_cast<double>(kernel.blocks) / device.compute_units;
  const double rounds = share <= 1.0 ? 1.0 : std::max(1.0, (share + 0.5) / gain);
  return even * (rounds / share);
}

KernelTime library_time(const MemoryKernel& kernel, const MemoryLibrary& library,
                        const Device& device) {
  KernelTime time;
  time.traffic = kernel.traffic;
  time.flops = kernel.vector_flops;
  const double gain = resident(kernel, device) ? library.resident : 1.0;
  time.memory = kernel.traffic / (device.memory * (library.fraction * gain));
  time.vector = issued(kernel, library, device, gain);
  const Seconds work = library.serial ? time.memory + time.vector
                                      : join_roofs(time.memory, Seconds{}, time.vector, Seconds{});
  const Seconds start = library.start * device.start_scale * kernel.kernels;
  const Seconds call = std::max(library.floor * device.start_scale * kernel.kernels, start + work);
  time.launch = device.gap * kernel.kernels + (call - work);
  time.total = time.launch + work;
  time.energy = kernel_energy(time, {{}, {}, time.flops, time.traffic, {}}, device);
  time.binding = time.vector > time.memory ? Roof::vector : Roof::memory;
  if (time.launch > std::max(time.vector, time.memory)) time.binding = Roof::launch;
  return time;
}

} // namespace

BytesPerSecond stream_bandwidth(const Device& device, double written) {
  const MemoryCalibration& constants = device.kernels.memory;
  const double one_way = 1.0 / std::max(constants.stream, constants.copy);
  const double turns = 2.0 * std::min(written, 1.0 - written);
  return device.memory / (one_way + (1.0 / constants.copy - one_way) * turns);
}

KernelTime memory_kernel_time(const MemoryKernel& kernel, const Device& device) {
  if (kernel.kernels < 0 || kernel.traffic.si() < 0.0 || kernel.vector_flops.si() < 0.0) {
    throw Bug("a memory-bound kernel with negative work");
  }
  if (kernel.kernels == 0) return {};
  if (const MemoryLibrary* library = library_of(kernel, device)) {
    return library_time(kernel, *library, device);
  }
  const MemoryCalibration& constants = device.kernels.memory;
  const double launches = kernel.kernels;
  const double fraction =
      constants.classes[static_cast<std::size_t>(kernel.kernel_class)] * device.class_factor;

  KernelTime time;
  time.traffic = kernel.traffic;
  time.flops = kernel.vector_flops;
  time.memory = streamed(kernel.traffic, constants.half_size * launches, device.memory * fraction);
  // Within L2, a class stands to a plain copy as it does in DRAM.
  const BytesPerSecond cached =
      device.l2 * std::min(1.0, constants.l2_copy * fraction / constants.copy);
  if (resident(kernel, device) && cached > device.memory * fraction) { // nothing streams from DRAM
    time.l2 = kernel.traffic / cached;
    time.memory = Seconds{};
  }
  if (const auto& vector = device.vector_peak[Precision::fp32]) {
    time.vector = kernel.vector_flops / *vector;
  }
  time.launch = (device.gap + constants.start * device.start_scale) * launches;
  time.total = time.launch + join_roofs(time.memory, time.l2, time.vector, Seconds{});
  const bool cached_work = time.memory.si() <= 0.0;
  time.energy = kernel_energy(time,
                              {{},
                               {},
                               time.flops,
                               cached_work ? Bytes{} : time.traffic,
                               cached_work ? time.traffic : Bytes{}},
                              device);
  const Seconds longest = std::max({time.memory, time.l2, time.vector});
  time.binding = longest == time.vector ? Roof::vector
                 : longest == time.l2   ? Roof::l2
                                        : Roof::memory;
  if (time.launch > longest) time.binding = Roof::launch;
  return time;
}

} // namespace clustersim
