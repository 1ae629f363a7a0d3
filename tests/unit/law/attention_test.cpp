#include "law/attention.hpp"

#include "base/bug.hpp"
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

AttentionShape square(std::int64_t sequence, bool causal) {
  AttentionShape shape;
  shape.batch = 1;
  shape.heads = shape.kv_heads = 50;
  shape.head_dim = 128;
  shape.queries = shape.keys = sequence;
  shape.causal = causal;
  return shape;
}

} // namespace

TEST_CASE("attention: a long sequence by hand") {
  const KernelTime t = attention_time(square(16384, false), round_device());
  const double flop = 4.0 * 50 * 16384.0 * 16384.0 * 128;
  CHECK(t.flops.si() == close_to(flop));
  CHECK(t.matrix.si() == close_to(flop / (300e12 * 0.6)));
  CHECK(t.traffic.si() == close_to(2.0 * 4 * 50 * 16384.0 * 128));
  CHECK(t.launch.si() == close_to(2e-6 + 8e-6));
  CHECK(t.binding == Roof::matrix);
}

TEST_CASE("attention: a causal mask halves long sequences, less so short ones") {
  const Device device = round_device();
  const auto ratio = [&](std::int64_t s) {
    return attention_time(square(s, true), device).matrix /
           attention_time(square(s, false), device).matrix;
  };
  // q blocks of 128: (q + 1) / 2 of q key blocks.
  CHECK(ratio(65536) == close_to((512.0 + 1.0) / 2.0 / 512.0));
  CHECK(ratio(65536) == close_to(0.5, 0.01));
  CHECK(ratio(1024) == close_to((8.0 + 1.0) / 2.0 / 8.0));
  // The FLOP count is exact: query i sees i + 1 keys.
  CHECK(attention_time(square(1024, true), device).flops.si() ==
        close_to(4.0 * 50 * 128 * 1024.0 * 1025.0 / 2.0));
}

TEST_CASE("attention: few blocks cost whole waves, at least the longest block") {
  const Device device = round_device();
  AttentionShape shape = square(1024, false);
  shape.heads = shape.kv_heads = 15; // 15 · 8 = 120 blocks on 100 units: two waves
  const double block = 4.0 * 128 * 128 * 128 / (300e12 * 0.6 / 100.0);
  CHECK(attention_time(shape, device).matrix.si() == close_to(2.0 * 8.0 * block));
  shape.heads = shape.kv_heads = 1;
  shape.causal = true; // 8 blocks, mean 4.5 key blocks, the last one 8
  CHECK(attention_time(shape, device).matrix.si() == close_to(8.0 * block));
}

TEST_CASE("attention: backward does 2.5 times the work at its own rate") {
  const Device device = round_device();
  AttentionShape shape = square(16384, true);
  const KernelTime forward = attention_time(shape, device);
  shape.backward = true;
  const KernelTime backward = attention_time(shape, device);
  CHECK(backward.flops / forward.flops == close_to(2.5));
  CHECK(backward.matrix / forward.matrix == close_to(2.5 * 0.6 / 0.5));
}

TEST_CASE("attention: rates between and outside the measured head dims") {
  const Device device = round_device();
  const auto rate = [&](std::int64_t dim) {
    AttentionShape shape = square(65536, false);
    shape.head_dim = dim;
    const KernelTime t = attention_time(shape, device);
    return t.flops / t.matrix / 300e12;
  };
  CHECK(rate(64).si() == close_to(0.5));
  CHECK(rate(96).si() == close_to(0.55));
  CHECK(rate(32).si() == close_to(0.5));
  CHECK(rate(256).si() == close_to(0.6));
}

TEST_CASE("attention: grouped queries save traffic, not work; a window saves both") {
  const Device device = round_device();
  const AttentionShape full = square(16384, true);
  AttentionShape grouped = full;
  grouped.kv_heads = 5;
  CHECK(attention_time(grouped, device).matrix == attention_time(full, device).matrix);
  CHECK(attention_time(grouped, device).traffic.si() ==
        close_to(2.0 * 2 * (50 + 5) * 16384.0 * 128));
  AttentionShape windowed = full;
  windowed.window = 1024;
  CHECK(attention_time(windowed, device).flops.si() ==
        close_to(4.0 * 50 * 128 * (16384.0 * 1024 - 1024.0 * 1023 / 2)));
  // Nine key blocks per query block, but for the first eight of 128.
  const double blocks = (8.0 * 9 / 2 + 120 * 9) / 128;
  CHECK(attention_time(windowed, device).matrix / attention_time(full, device).matrix ==
        close_to(blocks / ((128.0 + 1) / 2)));
}

TEST_CASE("attention: a unit of context parallelism attends from its own queries to all keys") {
  const Device device = round_device();
  AttentionShape last = square(4096, true);
  last.keys = 16384;
  CHECK(attention_time(last, device).flops.si() ==
        close_to(4.0 * 50 * 128 * 4096.0 * (16384.0 - 4095.0 / 2.0)));
}

TEST_CASE("attention: homogeneous of degree one in its time constants") {
  const Device slow = round_device(), fast = device_of(faster(round_chip(), 4.0));
  for (const std::int64_t s : {128, 2048, 65536}) {
    CHECK(attention_time(square(s, true), fast).total.si() ==
          close_to(attention_time(square(s, true), slow).total.si() / 4.0));
  }
}

TEST_CASE("attention: unfused has no kernel of its own") {
  Device device = round_device();
  device.attention_kernel = "unfused";
  CHECK_THROWS_AS((void)attention_time(square(1024, true), device), Bug);
  CHECK(attention_time(square(0, true), device).total == Seconds{});
}

TEST_CASE("attention: a causal window: early queries see fewer keys than it holds") {
  const Device device = round_device();
  for (const std::int64_t queries : {512, 2048}) {
    for (const std::int64_t keys : {512, 2048, 4096}) {
      for (const std::int64_t window : {1, 100, 512, 3000, 9000}) {
        double pairs = 0.0;
        for (std::int64_t i = 0; i < queries; ++i) {
          const std::int64_t before = std::max<std::int64_t>(keys - queries + i + 1, 0);
          pairs += static_cast<double>(std::min(before, window));
        }
        AttentionShape shape{.batch = 1,
                             .heads = 2,
                             .kv_heads = 2,
                             .head_dim = 64,
                             .queries = queries,
                             .keys = keys};
        shape.window = window;
        CHECK(attention_time(shape, device).flops.si() == close_to(4.0 * 2 * 64 * pairs));
      }
    }
  }
}

} // namespace clustersim
