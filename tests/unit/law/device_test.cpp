#include "law/attention.hpp"
#include "law/gemm.hpp"
#include "support/close_to.hpp"
#include "unit/law/fixtures.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace clustersim {
namespace {

using test::close_to;
using test::flash_stack;
using test::round_chip;
using test::round_device;

Device capped(const Chip& chip, double watts) {
  PowerLimits power;
  power.cap = Watts{watts};
  return make_device(chip, flash_stack(), power);
}

double sustained(const Device& device) {
  return device.matrix_sustained[Precision::bf16]->si();
}

} // namespace

TEST_CASE("power: a cap at the TDP leaves the calibrated rates") {
  const Device free = round_device(), full = capped(round_chip(), 400.0);
  CHECK(sustained(free) == close_to(0.8 * 300e12));
  CHECK(sustained(full) == close_to(sustained(free)));
  CHECK(sustained(capped(round_chip(), 1000.0)) == close_to(sustained(free)));
}

TEST_CASE("power: a lower cap slows matrix, vector and L2, not DRAM") {
  const Device free = round_device(), low = capped(round_chip(), 300.0);
  // P0 = 100 W; 200 of 300 W of the rest remain, exponent 2.
  const double clock = std::sqrt((300.0 - 100.0) / (400.0 - 100.0));
  CHECK(low.clock == close_to(clock));
  CHECK(sustained(low) == close_to(clock * sustained(free)));
  CHECK(low.matrix_peak[Precision::bf16]->si() == close_to(clock * 300e12));
  CHECK(low.vector_peak[Precision::fp32]->si() == close_to(clock * 20e12));
  CHECK(low.l2.si() == close_to(clock * free.l2.si()));
  CHECK(low.memory == free.memory);
}

TEST_CASE("power: no cap stops the clock altogether") {
  CHECK(capped(round_chip(), 1.0).clock == close_to(0.2));
  CHECK(capped(round_chip(), 100.0).clock == close_to(0.2));
}

TEST_CASE("power: a sibling board clocks by its watts per peak FLOP/s, up to the ceiling") {
  Chip weak = round_chip(); // same chip on a 225 W board
  weak.power.tdp = Watts{225.0};
  CHECK(sustained(test::device_of(weak)) == close_to(0.8 * 300e12 * std::sqrt(225.0 / 400.0)));
  Chip half = round_chip(); // half-rate accumulation: twice the watts per FLOP/s
  half.matrix[Precision::bf16] = FlopsPerSecond{150e12};
  CHECK(sustained(test::device_of(half)) == close_to(0.9 * 150e12));
  // With headroom, a mild cap costs nothing.
  CHECK(sustained(capped(half, 360.0)) == close_to(0.9 * 150e12));
  CHECK(sustained(capped(half, 200.0)) < 0.9 * 150e12);
}

TEST_CASE("power: a board without a measured sibling is its own reference") {
  Chip chip = round_chip();
  chip.kernels.power.reference_tdp = Watts{};
  chip.power.tdp = Watts{150.0};
  CHECK(sustained(test::device_of(chip)) == close_to(0.8 * 300e12));
}

TEST_CASE("power: attention follows the clock too") {
  AttentionShape shape;
  shape.batch = 8;
  shape.heads = shape.kv_heads = 32;
  shape.head_dim = 128;
  shape.queries = shape.keys = 8192;
  const Device free = round_device(), low = capped(round_chip(), 300.0);
  CHECK(attention_time(shape, low).matrix.si() ==
        close_to(attention_time(shape, free).matrix.si() / low.clock));
}

TEST_CASE("condition: bursts run at the burst fraction") {
  const Device burst = make_device(round_chip(), flash_stack(), {}, {}, Condition::burst);
  CHECK(sustained(burst) == close_to(0.85 * 300e12));
  // Without a burst figure the sustained one stands.
  CHECK(burst.matrix_sustained[Precision::fp16]->si() == close_to(0.8 * 300e12));
}

TEST_CASE("launch: the gap is the stream's or the graph's, faster when launches are scaled") {
  Stack stack = flash_stack();
  CHECK(make_device(round_chip(), stack, {}).gap.si() == close_to(2e-6));
  stack.launch = LaunchMode::graph;
  CHECK(make_device(round_chip(), stack, {}).gap.si() == close_to(0.5e-6));
  ResourceScale scale;
  scale.launch = 2.0;
  const Device scaled = make_device(round_chip(), stack, {}, scale);
  CHECK(scaled.gap.si() == close_to(0.25e-6));
  CHECK(gemm_time({1, 1, 1}, scaled).time.launch.si() == close_to((0.5e-6 + 4e-6) / 2.0));
}

TEST_CASE("resources: each scale moves its own rate") {
  ResourceScale scale;
  scale.matrix = 1.1;
  scale.vector = 1.2;
  scale.memory = 1.3;
  scale.l2 = 1.4;
  const Device base = round_device(), moved = make_device(round_chip(), flash_stack(), {}, scale);
  CHECK(sustained(moved) == close_to(1.1 * sustained(base)));
  CHECK(moved.vector_peak[Precision::fp32]->si() == close_to(1.2 * 20e12));
  CHECK(moved.memory.si() == close_to(1.3 * base.memory.si()));
  CHECK(moved.l2.si() == close_to(1.4 * base.l2.si()));
}

TEST_CASE("attention kernel: the stack's first choice that the family offers, else unfused") {
  Stack stack;
  stack.attention_kernel = "cudnn";
  CHECK(make_device(round_chip(), stack, {}).attention_kernel == "unfused");
  stack.attention_fallbacks = {"flash-3", "flash-2", "unfused"};
  CHECK(make_device(round_chip(), stack, {}).attention_kernel == "flash-2");
  stack.attention_kernel = "unfused";
  CHECK(make_device(round_chip(), stack, {}).attention_kernel == "unfused");
}

TEST_CASE("paths: nearest precision that holds the numbers") {
  const Chip chip = round_chip();
  CHECK(path_of(chip, Precision::fp8)->precision == Precision::bf16);
  CHECK(path_of(chip, Precision::fp4)->precision == Precision::bf16);
  CHECK(path_of(chip, Precision::tf32)->precision == Precision::tf32);
  CHECK(path_of(chip, Precision::fp32)->precision == Precision::fp32);
  CHECK_FALSE(path_of(chip, Precision::fp64).has_value());
}

TEST_CASE("power: a board draws its cap, within its limit and its lowest clock") {
  const Chip chip = test::round_chip(); // 0.25 of 400 W fixed, the rest by clock^2, at least 0.2
  const Watts least{400.0 * 0.25 + 400.0 * 0.75 * 0.2 * 0.2};
  CHECK(busy_power(chip, {}).si() == close_to(400.0));
  CHECK(busy_power(chip, {Watts{300.0}, 1.0}).si() == close_to(300.0));
  CHECK(busy_power(chip, {Watts{900.0}, 1.0}).si() == close_to(400.0));
  CHECK(busy_power(chip, {Watts{50.0}, 1.0}) == least);
  CHECK(clock_under_cap(least, chip) == close_to(chip.kernels.power.minimum_clock));
}

} // namespace clustersim
