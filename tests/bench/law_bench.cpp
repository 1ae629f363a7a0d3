// One evaluation of the GEMM law is to cost about a microsecond: a plan search makes millions of
// them.

#include "law/gemm.hpp"
#include "unit/law/fixtures.hpp"

#include <benchmark/benchmark.h>

namespace clustersim {
namespace {

Device full_menu() {
  Chip chip = test::round_chip();
  chip.kernels.gemm.tiles = {{128, 128}, {128, 256}, {256, 128}, {64, 128},
                             {128, 64},  {64, 256},  {256, 64},  {64, 64}};
  return test::device_of(chip);
}

void gemm_square(benchmark::State& state) {
  const Device device = full_menu();
  GemmShape shape{state.range(0), state.range(0), state.range(0)};
  for (auto _ : state) {
    benchmark::DoNotOptimize(gemm_time(shape, device));
    shape.n = shape.n == state.range(0) ? state.range(0) + 64 : state.range(0);
  }
}
BENCHMARK(gemm_square)->Arg(256)->Arg(4096)->Arg(16384);

void gemm_one_row(benchmark::State& state) {
  const Device device = full_menu();
  const GemmShape shape{1, 8192, 8192};
  for (auto _ : state)
    benchmark::DoNotOptimize(gemm_time(shape, device));
}
BENCHMARK(gemm_one_row);

} // namespace
} // namespace clustersim

BENCHMARK_MAIN();
