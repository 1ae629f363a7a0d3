#include "law/memory_bound.hpp"

#include "base/bug.hpp"
#include "support/close_to.hpp"
#include "unit/law/fixtures.hpp"

#include <doctest/doctest.h>

namespace clustersim {
namespace {

using test::close_to;
using test::device_of;
using test::faster;
using test::round_chip;
using test::round_device;

MemoryKernel moving(double bytes, int kernels = 1) {
  return {KernelClass::norm, Bytes{bytes}, Flops{}, kernels};
}

} // namespace

TEST_CASE("memory-bound: a large tensor streams at its class's share of DRAM") {
  const KernelTime t = memory_kernel_time(moving(1e9), round_device());
  CHECK(t.memory.si() == close_to((1e9 + 2e6) / (2e12 * 0.5)));
  CHECK(t.launch.si() == close_to(2e-6 + 1e-6));
  CHECK(t.total == t.launch + t.memory);
  CHECK(t.binding == Roof::memory);
}

TEST_CASE("memory-bound: half the bandwidth at half_size") {
  Chip chip = round_chip();
  chip.l2 = {};
  const KernelTime t = memory_kernel_time(moving(2e6), device_of(chip));
  CHECK((t.traffic / t.memory).si() == close_to(0.5 * 2e12 * 0.5));
}

TEST_CASE("memory-bound: what fits in L2 runs at L2 bandwidth, if that is faster") {
  const KernelTime inside = memory_kernel_time(moving(30e6), round_device());
  CHECK(inside.l2.si() == close_to(30e6 / (8e12 * 0.6 * 0.5 / 0.85)));
  CHECK(inside.memory == Seconds{});
  CHECK(inside.binding == Roof::l2);
  const KernelTime outside = memory_kernel_time(moving(41e6), round_device());
  CHECK(outside.memory.si() == close_to((41e6 + 2e6) / (2e12 * 0.5)));
  Chip slow_cache = round_chip();
  slow_cache.l2.bandwidth = BytesPerSecond{1e12};
  CHECK(memory_kernel_time(moving(30e6), device_of(slow_cache)).memory.si() ==
        close_to((30e6 + 2e6) / (2e12 * 0.5)));
}

TEST_CASE("memory-bound: of L2, three quarters hold a kernel's tensors") {
  const Device device = round_device();
  CHECK(memory_kernel_time(moving(30e6), device).binding == Roof::l2);
  CHECK(memory_kernel_time(moving(31e6), device).binding == Roof::memory);
}

TEST_CASE("memory-bound: a library's units move so many bytes per clock, one block each") {
  MemoryLibrary library;
  library.name = "by-hand";
  library.kernel_class = KernelClass::norm;
  library.fraction = 0.8;
  library.unit_bytes = 4.0;
  library.start = Seconds{3e-6};
  Chip chip = round_chip();
  chip.boost_clock = Hertz{1.5e9};
  const auto time = [&](double bytes, std::int64_t blocks) {
    chip.kernels.memory.libraries = {library};
    Occasion occasion;
    occasion.memory_library = "by-hand";
    MemoryKernel kernel = moving(bytes);
    kernel.blocks = blocks;
    return memory_kernel_time(kernel, make_device(chip, test::flash_stack(), {}, {}, occasion));
  };
  constexpr double unit = 4.0 * 1.5e9; // B/s of one unit of 100
  SUBCASE("few blocks take as long as one") {
    CHECK(time(1e5, 1).vector.si() == close_to(1e5 / unit));
    CHECK(time(50e5, 50).vector.si() == close_to(1e5 / unit));
  }
  SUBCASE("many take their share and half a block") {
    const KernelTime t = time(1000e5, 1000);
    CHECK(t.vector.si() == close_to((1000.0 / 100.0 + 0.5) * 1e5 / unit));
    CHECK(t.memory.si() == close_to(1e8 / (2e12 * 0.8)));
    CHECK(t.binding == Roof::vector);
    CHECK(t.launch.si() == close_to(2e-6 + 3e-6));
  }
  SUBCASE("tensors in L2 come faster to units that have several blocks") {
    library.resident = 2.0;
    CHECK(time(1e5, 1).vector.si() == close_to(1e5 / unit));
    CHECK(time(20e6, 1000).vector.si() == close_to((10.0 + 0.5) / 2.0 * 2e4 / unit));
    CHECK(time(20e6, 1000).memory.si() == close_to(20e6 / (2e12 * 0.8 * 2.0)));
  }
  SUBCASE("passes that follow each other add up") {
    library.serial = true;
    const KernelTime t = time(1e9, 0);
    CHECK((t.total - t.launch).si() == close_to(1e9 / (unit * 100.0) + 1e9 / (2e12 * 0.8)));
  }
  SUBCASE("a call timed from the host takes no less than its floor") {
    library.floor = Seconds{50e-6};
    CHECK(time(1e3, 0).total.si() == close_to(2e-6 + 50e-6));
    CHECK(time(1e3, 0).binding == Roof::launch);
    CHECK(time(1e9, 0).total.si() > 1e9 / (unit * 100.0));
  }
  SUBCASE("an unknown library leaves the family's figures") {
    library.name = "another";
    CHECK(time(1e9, 0).memory.si() == close_to((1e9 + 2e6) / (2e12 * 0.5)));
  }
}

TEST_CASE("memory-bound: each launch is paid for") {
  const Device device = round_device();
  const KernelTime once = memory_kernel_time(moving(1e9, 1), device);
  const KernelTime four = memory_kernel_time(moving(1e9, 4), device);
  CHECK(four.launch.si() == close_to(4.0 * once.launch.si()));
  CHECK((four.memory - once.memory).si() == close_to(3.0 * 2e6 / (2e12 * 0.5)));
  CHECK(memory_kernel_time(moving(1e3), device).binding == Roof::launch);
  CHECK(memory_kernel_time(moving(1e9, 0), device).total == Seconds{});
}

TEST_CASE("memory-bound: arithmetic outside the matrix units can be the roof") {
  MemoryKernel kernel = moving(1e6);
  kernel.vector_flops = Flops{20e12};
  const KernelTime t = memory_kernel_time(kernel, round_device());
  CHECK(t.binding == Roof::vector);
  CHECK(t.vector.si() == close_to(1.0));
}

TEST_CASE("memory-bound: the stack's class factor scales the rate") {
  Stack stack = test::flash_stack();
  stack.class_factor = 0.5;
  const KernelTime t = memory_kernel_time(moving(1e9), make_device(round_chip(), stack, {}));
  CHECK(t.memory.si() == close_to((1e9 + 2e6) / (2e12 * 0.5 * 0.5)));
}

TEST_CASE("memory-bound: homogeneous of degree one in its time constants") {
  for (const double bytes : {1e3, 1e6, 30e6, 1e9}) {
    CHECK(memory_kernel_time(moving(bytes), device_of(faster(round_chip(), 5.0))).total.si() ==
          close_to(memory_kernel_time(moving(bytes), round_device()).total.si() / 5.0));
  }
}

TEST_CASE("memory-bound: negative work is a bug") {
  CHECK_THROWS_AS((void)memory_kernel_time(moving(-1.0), round_device()), Bug);
}

TEST_CASE("memory: a stream turns its bus around as often as the rarer of reads and writes") {
  Chip chip = test::round_chip();
  chip.kernels.memory.copy = 0.8;
  chip.kernels.memory.stream = 0.95;
  const Device device = test::device_of(chip);
  const auto share = [&](double written) {
    return stream_bandwidth(device, written) / device.memory;
  };
  CHECK(share(0.0) == close_to(0.95));
  CHECK(share(1.0) == close_to(0.95));
  CHECK(share(0.5) == close_to(0.8));
  CHECK(share(1.0 / 3.0) == close_to(share(2.0 / 3.0)));
  CHECK(1.0 / share(0.25) == close_to((1.0 / 0.95 + 1.0 / 0.8) / 2.0));
  chip.kernels.memory.stream = 0.5; // never slower than a copy
  CHECK(stream_bandwidth(test::device_of(chip), 0.0) / device.memory == close_to(0.8));
}

} // namespace clustersim
