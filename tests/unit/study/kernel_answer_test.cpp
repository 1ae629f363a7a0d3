// What the verb `kernel` says about one kernel.

#include "study/kernel_answer.hpp"

#include "study/kernel_prediction.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Chip chip(std::string_view name) {
  static const Catalogue all({CLUSTERSIM_SOURCE_DIR});
  Diagnostics out;
  std::optional<Chip> loaded = load_chip(all, name, out);
  REQUIRE(loaded);
  return *loaded;
}

KernelAnswer answered(const KernelShape& shape, const Chip& on, const KernelSetting& setting = {}) {
  auto answer = answer_kernel(shape, setting, on);
  REQUIRE(std::holds_alternative<KernelAnswer>(answer));
  return std::get<KernelAnswer>(answer);
}

GemmShape square(std::int64_t n, Precision precision = Precision::bf16) {
  return {n, n, n, 1, precision, usual_output(precision)};
}

bool noted(const KernelAnswer& answer, std::string_view words) {
  return std::any_of(answer.notes.begin(), answer.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

} // namespace

TEST_CASE("a large product is bound by the matrix units, at a fraction of the data sheet's peak") {
  const Chip h100 = chip("h100");
  const KernelAnswer answer = answered(square(8192), h100);
  CHECK(answer.time.binding == Roof::matrix);
  const double flops = 2.0 * 8192.0 * 8192.0 * 8192.0;
  CHECK(answer.fraction() ==
        close_to(flops / h100.matrix[Precision::bf16]->si() / answer.time.total.si()));
  REQUIRE(answer.tiling);
  CHECK(answer.reason.find(std::to_string(answer.tiling->tile.rows) + "x") != std::string::npos);
  CHECK(answer.notes.empty());
}

TEST_CASE("one row is bound by memory, a tiny product by its launch") {
  const Chip h100 = chip("h100");
  const KernelAnswer row = answered(GemmShape{1, 16384, 16384}, h100);
  CHECK(row.time.binding == Roof::memory);
  const double bytes = 2.0 * (16384.0 + 16384.0 * 16384.0 + 16384.0);
  CHECK(row.fraction() == close_to(bytes / h100.memory.bandwidth.si() / row.time.total.si()));
  CHECK(answered(square(64), h100).time.binding == Roof::launch);
}

TEST_CASE("a precision that the chip lacks says where it goes") {
  CHECK(noted(answered(square(1024, Precision::fp4), chip("h100")), "no fp4 path"));
  CHECK(noted(answered(square(1024, Precision::bf16), chip("rtx-2080-ti")), "run as fp16"));
  CHECK(noted(answered(square(1024, Precision::fp32), chip("p100-sxm2-16gb")), "vector units"));
  CHECK_FALSE(noted(answered(square(1024, Precision::fp8), chip("h100")), "path"));
  Chip none = chip("h100");
  none.matrix = {};
  none.vector = {};
  CHECK(std::holds_alternative<std::string>(answer_kernel(square(64), {}, none)));
}

TEST_CASE("a cap slows matrix work and says so when it does not") {
  const Chip h100 = chip("h100");
  KernelSetting capped;
  capped.cap = Watts{500};
  CHECK(answered(square(8192), h100, capped).time.total > answered(square(8192), h100).time.total);
  capped.cap = h100.power.tdp;
  CHECK(noted(answered(square(8192), h100, capped), "changes nothing"));
}

TEST_CASE("without a wish the fastest attention kernel runs") {
  const Chip h100 = chip("h100");
  AttentionShape shape;
  shape.batch = 1;
  shape.heads = shape.kv_heads = 32;
  shape.head_dim = shape.value_dim = 128;
  shape.queries = shape.keys = 8192;
  const KernelAnswer best = answered(shape, h100);
  for (const std::string& name : attention_kernels_of(h100)) {
    KernelSetting setting;
    setting.attention_kernels = {name};
    const KernelAnswer one = answered(shape, h100, setting);
    CHECK(one.attention_kernel == name);
    CHECK(one.time.total >= best.time.total);
  }
  // A chip without a fused kernel runs products and a softmax, and says so.
  const KernelAnswer old = answered(shape, chip("p100-sxm2-16gb"));
  CHECK(old.attention_kernel == unfused_attention);
  CHECK(noted(old, "no fused attention kernel"));
}

TEST_CASE("a tensor that fits in L2 is measured against L2") {
  const Chip h100 = chip("h100");
  const MemoryKernel small{KernelClass::norm, Bytes{16e6}, {}, 1};
  const KernelAnswer answer = answered(small, h100);
  CHECK(answer.time.l2.si() > 0);
  CHECK(answer.fraction() == close_to(16e6 / h100.l2.bandwidth.si() / answer.time.total.si()));
  CHECK(answer.fraction() < 1.0);
}

// NVIDIA, "Matrix Multiplication Background User's Guide", wave quantisation: on A100 (108 units)
// the time stays flat while the last wave fills and jumps when one tile more than it holds is
// needed, so FLOP/s falls by almost half from one full wave to the start of the second.
TEST_CASE("sweeping N on A100 draws the sawtooth of wave quantisation") {
  Chip a100 = chip("a100-sxm4-80gb");
  a100.kernels.gemm.tiles = {{256, 128}};     // the guide's example has one tile
  a100.kernels.gemm.split_start = Seconds{1}; // and never cuts K
  const auto at = [&](std::int64_t n) { return answered(GemmShape{2304, n, 4096}, a100); };
  const auto rate = [](const KernelAnswer& answer) {
    return answer.time.flops / answer.time.total;
  };
  const std::int64_t full = 12 * 128; // 9 x 12 tiles = 108 units, one full wave
  CHECK(at(full).tiling->waves == 1);
  CHECK(at(full).tiling->tail == 0.0);
  CHECK(at(full + 128).tiling->waves == 2);
  const double drop = rate(at(full + 128)) / rate(at(full));
  CHECK(drop < 0.65);
  CHECK(drop > 0.5);
  CHECK(rate(at(2 * full)) > 0.95 * rate(at(full))); // and recovers when the second wave is full
  CHECK(at(full - 127).time.matrix == at(full).time.matrix); // flat inside a tile

  // With the library's own menu the teeth are blunter, yet FLOP/s falls somewhere as N grows.
  const Chip real = chip("a100-sxm4-80gb");
  std::size_t falls = 0;
  FlopsPerSecond before{};
  for (std::int64_t n = 1024; n <= 8192; n += 128) {
    const FlopsPerSecond now = rate(answered(GemmShape{2048, n, 4096}, real));
    falls += now < before * 0.95 ? 1U : 0U;
    before = now;
  }
  CHECK(falls >= 3);
}
