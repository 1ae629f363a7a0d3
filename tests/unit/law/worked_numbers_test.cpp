// The numbers worked by hand in docs/explanation, from the shipped constants. When a constant is
// fitted anew, this test fails until the page is worked again.

#include "law/attention.hpp"
#include "law/gemm.hpp"
#include "law/memory_bound.hpp"
#include "law/roofline.hpp"
#include "spec/catalogue.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

namespace clustersim {
namespace {

using test::close_to;

const Catalogue& catalogue() {
  static const Catalogue shipped({CLUSTERSIM_SOURCE_DIR});
  return shipped;
}

Chip chip(const char* name) {
  Diagnostics diagnostics;
  const auto loaded = load_chip(catalogue(), name, diagnostics);
  REQUIRE_MESSAGE(loaded.has_value(), render(diagnostics, false));
  return *loaded;
}

Device device(const Chip& of, PowerLimits power = {}) {
  Stack stack;
  stack.attention_kernel = "flash-2";
  return make_device(of, stack, power);
}

constexpr double printed = 0.002; // to the digits of the pages

} // namespace

TEST_CASE("roofline.md: ridge point of H100") {
  const Chip h100 = chip("h100-sxm5-80gb");
  const double ridge = ridge_point(*h100.matrix[Precision::bf16], h100.memory.bandwidth).si();
  CHECK(ridge == close_to(989.4e12 / 3.35e12));
  CHECK(3.0 * ridge == close_to(886, printed));
}

TEST_CASE("gemm.md: 4096 cubed on A100") {
  const GemmTime t = gemm_time({4096, 4096, 4096}, device(chip("a100-sxm4-80gb")));
  CHECK(t.tile.rows == 128);
  CHECK(t.tile.columns == 256);
  CHECK(t.waves == 5);
  CHECK(t.time.matrix.si() == close_to(512 * 2.0 * 128 * 256 * 4096 / (312e12 * 0.83)));
  CHECK(t.time.l2.si() == close_to(5 * 108 * (128.0 + 256) * 4096 * 2 / 5.45e12));
  CHECK(t.time.memory.si() == close_to(3 * 4096.0 * 4096 * 2 / (0.77 * 2.039e12)));
  CHECK(t.time.total.si() == close_to(541.8e-6, printed));
  CHECK((t.time.flops / t.time.total).si() == close_to(253.7e12, printed));
}

TEST_CASE("gemm.md: sweeping N on A100 shows the waves of NVIDIA's guide") {
  // 9 tiles of 256 rows; 12 columns of 128 fill 108 units, so each 1536 columns end a wave.
  const Device a100 = make_device(chip("a100-sxm4-80gb"), Stack{}, {}, {}, Condition::burst);
  const auto rate = [&](std::int64_t n) {
    const KernelTime t = gemm_time({2304, n, 4096}, a100).time;
    return (t.flops / t.total).si();
  };
  double last_drop = 1.0;
  for (const std::int64_t full : {1536, 3072, 4608}) {
    CAPTURE(full);
    CHECK(gemm_time({2304, full, 4096}, a100).tail == close_to(0.0));
    for (std::int64_t before = full - 1280; before < full; before += 128)
      CHECK(rate(before) < rate(full));
    const double drop = 1.0 - rate(full + 128) / rate(full);
    CHECK(drop > 0.05);
    CHECK(drop < last_drop); // the teeth shrink with the number of waves
    last_drop = drop;
  }
}

TEST_CASE("attention.md: FlashAttention-2 at 16,384 tokens on A100") {
  AttentionShape shape;
  shape.batch = 1;
  shape.heads = shape.kv_heads = 16;
  shape.head_dim = 128;
  shape.queries = shape.keys = 16384;
  shape.causal = false;
  const KernelTime t = attention_time(shape, device(chip("a100-sxm4-80gb")));
  CHECK(t.matrix.si() == close_to(4.0 * 16 * 16384 * 16384 * 128 / (0.72 * 312e12)));
  CHECK(t.memory.si() == close_to(4.0 * 16 * 16384 * 128 * 2 / (0.80 * 2.039e12)));
  CHECK(t.total.si() == close_to(9799e-6, printed));
}

TEST_CASE("launch.md: a thousand layer norms of 1 MB on H200") {
  const MemoryKernel norms{KernelClass::norm, Bytes{1000 * 1e6}, Flops{}, 1000};
  const Chip h200 = chip("h200-sxm-141gb");
  Stack captured;
  captured.launch = LaunchMode::graph;
  const KernelTime in_graph = memory_kernel_time(norms, make_device(h200, captured, {}));
  const KernelTime in_stream = memory_kernel_time(norms, device(h200));
  CHECK(in_graph.launch.si() == close_to(1000 * (0.4e-6 + 0.8e-6)));
  CHECK(in_stream.launch.si() == close_to(1000 * (1.6e-6 + 0.8e-6)));
  const double from_l2 = 1e6 / (9.7e12 * 0.6 * 0.55 / 0.87);
  CHECK(in_graph.total.si() == close_to(1.2e-3 + 1000 * from_l2, 0.02));
  CHECK(in_graph.launch / in_graph.total == close_to(0.82, 0.01));
}

TEST_CASE("memory-bound.md: layer norm on A100") {
  const MemoryKernel norm{KernelClass::norm, Bytes{2.0 * 2 * 8192 * 4096}, Flops{}, 1};
  const KernelTime t = memory_kernel_time(norm, device(chip("a100-sxm4-80gb")));
  CHECK(t.memory.si() == close_to((2.0 * 2 * 8192 * 4096 + 2e6) / (0.60 * 2.039e12)));
  CHECK(t.total.si() == close_to(113.9e-6, printed));
}

TEST_CASE("power.md: joules of a product and of a memory-bound kernel on H100") {
  const Device h100 = device(chip("h100-sxm5-80gb"));
  const KernelTime product = gemm_time({8192, 8192, 8192}, h100).time;
  CHECK(product.total.si() == close_to(1.591e-3, printed));
  const double full = 0.837 / 0.7;
  CHECK(h100.gemm_rates[Precision::bf16]->energy.si() ==
        close_to((0.25 * 700 - 70 + 0.75 * 700 * full * full) / (0.837 * 989.4e12)));
  CHECK(product.energy.si() == close_to(1.111, printed));
  CHECK((product.energy / product.total).si() == close_to(698.0, printed));
  const MemoryKernel copy{KernelClass::elementwise, Bytes{1073741824.0}, Flops{}, 1};
  const KernelTime moved = memory_kernel_time(copy, h100);
  CHECK(moved.energy.si() == close_to(70.0 * moved.total.si() + 1073741824.0 * 128e-12));
  CHECK(moved.energy.si() == close_to(0.168, 0.005));
}

TEST_CASE("memory-bound.md: a triad on H100 SXM") {
  const double share = 1.0 / (1 / 0.945 + (1 / 0.865 - 1 / 0.945) * 2.0 / 3.0);
  CHECK(stream_bandwidth(device(chip("h100-sxm5-80gb")), 1.0 / 3.0).si() ==
        close_to(share * 3.35e12));
}

TEST_CASE("power.md: H100 at 500 W, RTX 3090 at 280 W, GB300 from GB200") {
  PowerLimits power;
  power.cap = Watts{500.0};
  const Device h100 = device(chip("h100-sxm5-80gb"), power);
  CHECK(h100.clock == close_to(0.787, printed));
  CHECK(h100.matrix_sustained[Precision::bf16]->si() == close_to(545e12, printed));
  CHECK(h100.memory.si() == close_to(3.35e12));

  power.cap = Watts{280.0};
  const double kept = device(chip("rtx-3090"), power).clock;
  CHECK(kept == close_to(0.92, 0.01));

  const auto sustained = [](const char* name) {
    return device(chip(name)).matrix_sustained[Precision::bf16]->si();
  };
  CHECK(sustained("gb300-279gb") / sustained("gb200-186gb") > 1.05);
}

TEST_CASE("calibration.md: every chip's shares are shares, and sustained work is no burst") {
  for (const CatalogueEntry& entry : catalogue().entries()) {
    if (entry.kind != Kind::chip) continue;
    CAPTURE(entry.id);
    const Chip c = chip(entry.id.c_str());
    const Device steady = device(c);
    const Device burst = make_device(c, Stack{}, {}, {}, Condition::burst);
    for (const Precision p : {Precision::fp16, Precision::bf16, Precision::fp32}) {
      if (!steady.matrix_peak[p]) continue;
      CHECK(*steady.matrix_sustained[p] < *steady.matrix_peak[p]);
      CHECK(*steady.matrix_sustained[p] <= *burst.matrix_sustained[p]);
    }
    // Chips for integers only, and those whose makers state no rate, have nothing to train with.
    if (!steady.matrix_peak[Precision::bf16]) {
      CHECK_FALSE(
          (c.matrix[Precision::bf16] || c.matrix[Precision::fp16] || c.vector[Precision::fp32]));
      continue;
    }
    const GemmTime t = gemm_time({8192, 8192, 8192}, steady);
    CHECK(t.time.binding == Roof::matrix);
    CHECK((t.time.flops / t.time.total) < *steady.matrix_peak[Precision::bf16]);
  }
}

} // namespace clustersim
