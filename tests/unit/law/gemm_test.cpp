#include "law/gemm.hpp"

#include "base/bug.hpp"
#include "law/roofline.hpp"
#include "support/close_to.hpp"
#include "unit/law/fixtures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

using test::close_to;
using test::device_of;
using test::faster;
using test::round_chip;
using test::round_device;

double time_of(std::int64_t m, std::int64_t n, std::int64_t k, const Device& device) {
  return gemm_time({m, n, k}, device).time.total.si();
}

} // namespace

TEST_CASE("GEMM: one full wave by hand") {
  // 100 units, tiles of 256 x 128: M = 2560, N = 1280 is exactly one tile per unit.
  const Device device = round_device();
  const GemmTime result = gemm_time({2560, 1280, 4096}, device);
  // Units at full clock (0.9) with the extra depth, or the whole chip within its power (0.8).
  const double unit = 2.0 * 256 * 128 * (4096 + 128) / (300e12 * 0.9 / 100.0);
  const double power = 2.0 * 2560 * 1280 * 4096 / (300e12 * 0.8);
  const double matrix = std::max(unit, power);
  const double bytes = 2.0 * (2560.0 * 4096 + 4096.0 * 1280 + 2560.0 * 1280);
  CHECK(result.waves == 1);
  CHECK(result.tail == close_to(0.0));
  CHECK(result.split_k == 1);
  CHECK(result.time.matrix.si() / matrix == close_to(1.0));
  CHECK(result.time.memory.si() / (bytes / (2e12 * 0.75)) == close_to(1.0));
  CHECK(result.time.launch.si() == close_to(2e-6 + 4e-6));
  CHECK(result.time.flops.si() == close_to(2.0 * 2560 * 1280 * 4096));
  CHECK(result.time.traffic.si() == close_to(bytes));
  const Seconds joined =
      join_roofs(result.time.matrix, result.time.l2, result.time.memory, Seconds{});
  CHECK(result.time.total.si() == close_to((result.time.launch + joined).si()));
}

TEST_CASE("GEMM: wave quantisation makes a sawtooth") {
  const Device device = round_device();
  // 10 tiles in M, so N = 1280 fills the chip; one column more of tiles starts a second wave. K is
  // too shallow to be split, which would fill the second wave with slices of K.
  const GemmTime full = gemm_time({2560, 1280, 448}, device);
  const GemmTime over = gemm_time({2560, 1281, 448}, device);
  CHECK(full.waves == 1);
  CHECK(over.waves == 2);
  // The tail's idle units leave their power to the others: only the units' own time doubles.
  CHECK(full.time.matrix.si() / (2.0 * 256 * 128 * (448 + 128) / 2.7e12) == close_to(1.0));
  CHECK(over.time.matrix / full.time.matrix == close_to(2.0));
  CHECK(over.tail == close_to(1.0 - 110.0 / 200.0));
  // The rate right after the step is half of that before it, and climbs back by the wave's end.
  const auto rate = [&](std::int64_t n) {
    const KernelTime t = gemm_time({2560, n, 448}, device).time;
    return (t.flops / (t.total - t.launch)).si();
  };
  CHECK(rate(1281) / rate(1280) == close_to(0.5, 0.05));
  CHECK(rate(2560) / rate(1280) == close_to(1.0, 0.05));
}

TEST_CASE("GEMM: a deep product just over a wave is cut along K, as stream-K kernels do") {
  const GemmTime over = gemm_time({2560, 1281, 8192}, round_device());
  CHECK(over.split_k == 4);
  // 110 tiles in 4 slices: 440 over 100 units are 5 waves of a quarter; more slices gain nothing,
  // since the power of the whole chip binds then.
  CHECK(over.waves == 5);
}

TEST_CASE("GEMM: a large product approaches the sustained rate") {
  const Device device = round_device();
  const GemmTime result = gemm_time({25600, 12800, 65536}, device);
  const double rate = (result.time.flops / result.time.total).si();
  CHECK(rate < 0.8 * 300e12);
  CHECK(rate == close_to(0.8 * 300e12, 0.01));
  CHECK(result.time.binding == Roof::matrix);
}

TEST_CASE("GEMM: one row is memory-bound") {
  Chip chip = round_chip();
  chip.kernels.gemm.tiles = {{64, 128}};
  const GemmTime result = gemm_time({1, 16384, 16384}, device_of(chip));
  CHECK(result.time.binding == Roof::memory);
  const double weights = 2.0 * 16384.0 * 16384.0;
  CHECK(result.time.total.si() == close_to(weights / (2e12 * 0.75), 0.15));
}

TEST_CASE("GEMM: K is split when tiles cannot fill the chip") {
  const GemmTime result = gemm_time({256, 128, 65536}, round_device());
  CHECK(result.split_k == 8);
  CHECK(result.waves == 1);
  // Never finer than 256 deep.
  CHECK(gemm_time({256, 128, 448}, round_device()).split_k == 1);
}

TEST_CASE("GEMM: time is at least each roof and each part of the launch") {
  const Device device = round_device();
  for (const std::int64_t m : {1, 64, 500, 4096}) {
    for (const std::int64_t n : {64, 1000, 8192}) {
      for (const std::int64_t k : {64, 777, 16384}) {
        const KernelTime t = gemm_time({m, n, k}, device).time;
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CHECK(t.total >= t.launch + t.matrix);
        CHECK(t.total >= t.launch + t.memory);
        CHECK(t.flops / t.total < *device.matrix_peak[Precision::bf16]);
      }
    }
  }
}

TEST_CASE("GEMM: more work never takes less time at tile multiples") {
  const Device device = round_device();
  double last_m = 0.0, last_n = 0.0, last_k = 0.0;
  for (std::int64_t i = 1; i <= 40; ++i) {
    const double m = time_of(256 * i, 2048, 2048, device);
    const double n = time_of(2048, 128 * i, 2048, device);
    const double k = time_of(2048, 2048, 64 * i, device);
    CHECK(m >= last_m);
    CHECK(n >= last_n);
    CHECK(k >= last_k);
    last_m = m;
    last_n = n;
    last_k = k;
  }
}

TEST_CASE("GEMM: small tiles starve on L2, so large products take large tiles") {
  Chip chip = round_chip();
  chip.kernels.gemm.tiles = {{64, 64}, {256, 128}};
  chip.kernels.gemm.l2_reuse = 1.0;
  // 64 x 64 needs 2 · 2 bytes · (64 + 64) per 2 · 64 · 64 FLOP: 240e12 / 32 = 7.5 TB/s, near the 8
  // TB/s.
  const GemmTime large = gemm_time({25600, 12800, 8192}, device_of(chip));
  CHECK(large.tile.rows == 256);
  CHECK(large.time.l2.si() / large.time.matrix.si() == close_to((240e12 / 85.33) / 8e12, 0.03));
  // One small tile per unit beats four-fold padding.
  CHECK(gemm_time({640, 640, 8192}, device_of(chip)).tile.rows == 64);
}

TEST_CASE("GEMM: accumulation reads the output first; weight gradients run slower") {
  const Device device = round_device();
  GemmShape shape{2560, 1280, 4096};
  const GemmTime plain = gemm_time(shape, device);
  shape.accumulate = true;
  shape.output = Precision::fp32;
  CHECK((gemm_time(shape, device).time.traffic - plain.time.traffic).si() ==
        close_to(2560.0 * 1280.0 * (2 * 4 - 2)));
  shape.role = GemmRole::weight_gradient;
  CHECK(gemm_time(shape, device).time.matrix.si() == close_to(plain.time.matrix.si() / 0.95));
}

TEST_CASE("GEMM: a batch is as many tiles, not as many launches") {
  const Device device = round_device();
  GemmShape shape{256, 128, 4096};
  shape.batch = 100;
  const GemmTime batched = gemm_time(shape, device);
  CHECK(batched.waves == 1);
  CHECK(batched.time.matrix.si() ==
        close_to(gemm_time({2560, 1280, 4096}, device).time.matrix.si()));
}

TEST_CASE("GEMM: a burst falls from its first rate to the steady one") {
  Chip chip = round_chip();
  chip.kernels.gemm.boost = Seconds{1e-3};
  const Device device = make_device(chip, {}, {}, {}, Condition::burst);
  const GemmShape shape{25600, 12800, 4096};
  const double work = 2.0 * 25600 * 12800 * 4096;
  const double x = work / (300e12 * 0.85) / 1e-3;
  const double mean = 0.8 + (0.85 - 0.8) * (1.0 - std::exp(-x)) / x;
  CHECK(gemm_time(shape, device).time.matrix.si() / (work / (300e12 * mean)) == close_to(1.0));
}

TEST_CASE("GEMM: easy data and a busy node's loop move what power allows, not the units") {
  Chip chip = round_chip();
  chip.kernels.gemm.easy_data = 1.05;
  chip.kernels.gemm.loop[Precision::bf16] = 0.5;
  const GemmShape large{25600, 12800, 4096}, small{256, 128, 256};
  const auto on = [&](Condition condition, OperandData data, const GemmShape& shape) {
    return gemm_time(shape, make_device(chip, {}, {}, {}, Occasion{condition, data, {}}))
        .time.matrix;
  };
  using enum Condition;
  using enum OperandData;
  const Seconds usual = on(sustained, random, large);
  CHECK(usual / on(sustained, easy, large) == close_to(1.05));
  // Without a `loop_boost` a loop keeps the burst's rate; with a short one it is at its own.
  chip.kernels.gemm.loop_boost = Seconds{1e-9};
  CHECK(on(loop, random, large) / usual == close_to(0.8 / 0.5, 0.001));
  CHECK(on(loop, random, small) / on(sustained, random, small) == close_to(1.0));
}

TEST_CASE("GEMM: a library that quantises its operand pays for it; others do not") {
  Chip chip = round_chip();
  chip.matrix[Precision::fp8] = FlopsPerSecond{600e12};
  GemmLibrary library;
  library.name = "own";
  library.precision = Precision::fp8;
  library.start = Seconds{9e-6};
  library.cast = 0.4;
  chip.kernels.gemm.libraries = {library};
  GemmShape shape{2560, 1280, 4096};
  shape.precision = Precision::fp8;
  const auto by = [&](const char* name) {
    return gemm_time(shape, make_device(chip, {}, {}, {},
                                        Occasion{Condition::sustained, OperandData::random, name}))
        .time;
  };
  const double cast = 2560.0 * 4096 * 3 / (2e12 * 0.4);
  CHECK((by("own").total - by("").total).si() / (cast + 9e-6 - 4e-6) == close_to(1.0));
  CHECK(by("unknown").total == by("").total);
}

TEST_CASE("GEMM: sparse, 16-bit sums and grouped products change the rate where the chip says so") {
  Chip chip = round_chip();
  const GemmShape dense{25600, 12800, 4096};
  GemmShape sparse = dense, narrow = dense, grouped = dense;
  sparse.sparse = true;
  narrow.accumulate_16 = true;
  grouped.grouped = true;
  grouped.role = GemmRole::data_gradient;
  const auto gain = [&](const GemmShape& shape) {
    const Device device = device_of(chip);
    return gemm_time(dense, device).time.matrix / gemm_time(shape, device).time.matrix;
  };
  for (const GemmShape& shape : {sparse, narrow, grouped})
    CHECK(gain(shape) == close_to(1.0));
  chip.structured_sparsity = true;
  chip.kernels.gemm.sparse = 0.9;
  chip.matrix_accumulate_16[Precision::bf16] = FlopsPerSecond{600e12};
  chip.kernels.gemm.grouped.data_gradient = 0.7;
  CHECK(gain(sparse) == close_to(2.0 * 0.9));
  CHECK(gain(narrow) == close_to(2.0));
  CHECK(gain(grouped) == close_to(0.7));
}

TEST_CASE("GEMM: experts start one by one and share the tiles of their waves") {
  const Device device = round_device();
  // 25 experts of 4 tiles fill 100 units once, where each alone would leave 96 of them idle.
  GemmShape batch{512, 256, 4096, 25};
  GemmShape experts = batch;
  experts.grouped = true;
  const GemmTime one = gemm_time(batch, device), many = gemm_time(experts, device);
  CHECK(many.waves == one.waves);
  CHECK(many.time.matrix == one.time.matrix);
  CHECK((many.time.launch - one.time.launch).si() == close_to(24 * 4e-6));
  CHECK((many.time.total - one.time.total).si() == close_to(24 * 4e-6));
}

TEST_CASE("GEMM: systolic arrays pad to their edge and know no waves") {
  Chip chip = round_chip();
  chip.kernels.gemm.systolic = 128;
  chip.kernels.gemm.alignment = 128;
  chip.kernels.gemm.tiles.clear();
  const Device device = device_of(chip);
  const double rate = 300e12 * 0.8;
  CHECK(gemm_time({1024, 128, 128}, device).time.matrix.si() ==
        close_to(2.0 * 1024 * 128 * 128 / rate));
  CHECK(gemm_time({1024, 129, 1}, device).time.matrix.si() ==
        close_to(2.0 * 1024 * 256 * 128 / rate));
  GemmShape experts{1024, 128, 128, 8};
  const GemmTime batch = gemm_time(experts, device);
  experts.grouped = true; // one kernel of the compiler's
  CHECK(gemm_time(experts, device).time.launch == batch.time.launch);
}

TEST_CASE("GEMM: speeding everything up by λ divides the time by λ") {
  const Device slow = round_device(), fast = device_of(faster(round_chip(), 3.0));
  for (const GemmShape& shape :
       {GemmShape{1, 4096, 4096}, GemmShape{300, 500, 20000}, GemmShape{8192, 8192, 8192}}) {
    CHECK(gemm_time(shape, fast).time.total.si() ==
          close_to(gemm_time(shape, slow).time.total.si() / 3.0));
  }
}

TEST_CASE("GEMM: what the chip cannot do at a precision runs on the nearest path") {
  const Device device = round_device();
  CHECK(device.matrix_peak[Precision::fp8] == FlopsPerSecond{300e12}); // as bf16
  CHECK(device.matrix_peak[Precision::fp32] == FlopsPerSecond{20e12}); // vector units
  CHECK_FALSE(device.matrix_peak[Precision::fp64]);
  GemmShape shape{4096, 4096, 4096};
  shape.precision = Precision::fp64;
  CHECK_THROWS_AS((void)gemm_time(shape, device), Bug);
}

TEST_CASE("GEMM: empty products take no time, negative ones are bugs, huge ones do not overflow") {
  const Device device = round_device();
  CHECK(gemm_time({0, 4096, 4096}, device).time.total == Seconds{});
  CHECK_THROWS_AS((void)gemm_time({-1, 1, 1}, device), Bug);
  const std::int64_t huge = std::int64_t{1} << 62;
  CHECK(std::isfinite(gemm_time({huge, huge, huge, huge}, device).time.total.si()));
}

} // namespace clustersim
