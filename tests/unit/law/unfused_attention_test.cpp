#include "law/unfused_attention.hpp"

#include "law/gemm.hpp"
#include "law/memory_bound.hpp"
#include "support/close_to.hpp"
#include "unit/law/fixtures.hpp"

#include <doctest/doctest.h>

using namespace clustersim;
using test::close_to;
using test::round_device;

namespace {

AttentionShape shape_of(std::int64_t tokens, bool backward) {
  AttentionShape shape;
  shape.batch = 2;
  shape.heads = shape.kv_heads = 16;
  shape.head_dim = 64;
  shape.queries = shape.keys = tokens;
  shape.causal = false;
  shape.backward = backward;
  return shape;
}

} // namespace

TEST_CASE("unfused attention: scores pass through memory, all products count") {
  const Device device = round_device();
  for (const bool backward : {false, true}) {
    CAPTURE(backward);
    const KernelTime time = unfused_attention_time(shape_of(4096, backward), device);
    const double scores = 2.0 * 16 * 4096.0 * 4096.0, rows = 2.0 * 16 * 4096.0 * 64.0;
    const double products = backward ? 4.0 : 2.0, passes = backward ? 3.0 : 2.0;
    CHECK(time.flops.si() == close_to(products * 2.0 * scores * 64.0));
    CHECK(time.traffic.si() ==
          close_to(2.0 * (passes * scores + products * (scores + 2.0 * rows))));
    CHECK(time.total > time.memory);
  }
}

TEST_CASE("unfused attention takes the sum of its kernels") {
  const Device device = round_device();
  const KernelTime time = unfused_attention_time(shape_of(2048, false), device);
  const GemmShape onto{2048, 2048, 64, 32}, from{2048, 64, 2048, 32};
  const MemoryKernel softmax{KernelClass::softmax, Bytes{2.0 * 2.0 * 32.0 * 2048.0 * 2048.0},
                             Flops{0}};
  CHECK(time.total.si() ==
        close_to((gemm_time(onto, device).time.total + gemm_time(from, device).time.total +
                  memory_kernel_time(softmax, device).total)
                     .si()));
}
