// A plan search evaluates millions of products, so none may allocate. Every allocation of this
// program is counted.

#include "law/gemm.hpp"
#include "unit/law/fixtures.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> allocations{0};
} // namespace

// Replacements must be global functions ([replacement.functions]). Inlined, g++ takes the pair of
// malloc and free apart and reports a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
// A library sorts with memory from here, which AddressSanitizer would hand out as its own.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace clustersim {

TEST_CASE("GEMM: an evaluation allocates nothing, whatever its menu") {
  Chip chip = test::round_chip();
  chip.kernels.gemm.tiles.assign(64, Tile{128, 128});
  const Device tiled = test::device_of(chip);
  chip.kernels.gemm.systolic = 128;
  const Device systolic = test::device_of(chip);
  const long before = allocations;
  ::operator delete(::operator new(1)); // the count works; a new-expression could be elided
  REQUIRE(allocations == before + 1);
  Seconds sum;
  const long start = allocations;
  for (const std::int64_t n : {1, 100, 4096, 1000000}) {
    sum += gemm_time({n, 4096, 16384}, tiled).time.total;
    sum += gemm_time({n, 4096, 16384}, systolic).time.total;
  }
  CHECK(allocations == start);
  CHECK(sum.si() > 0.0);
}

} // namespace clustersim
