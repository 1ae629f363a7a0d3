#include "law/decode_attention.hpp"

#include "law/memory_bound.hpp"
#include "support/close_to.hpp"
#include "unit/law/fixtures.hpp"

#include <doctest/doctest.h>

namespace clustersim {
namespace {

using test::close_to;
using test::round_device;

/// Llama 3 70B on one of eight ranks: 8 queries share one key head.
AttentionShape grouped(std::int64_t batch, std::int64_t keys) {
  AttentionShape shape;
  shape.batch = batch;
  shape.heads = 8;
  shape.kv_heads = 1;
  shape.head_dim = 128;
  shape.queries = 1;
  shape.keys = keys;
  shape.causal = false;
  shape.decode = true;
  return shape;
}

/// DeepSeek-V2's latents: 128 heads look at one key of 512 + 64, whose first 512 are the value.
AttentionShape latent(std::int64_t batch, std::int64_t keys) {
  AttentionShape shape = grouped(batch, keys);
  shape.heads = 128;
  shape.head_dim = 576;
  shape.value_dim = 512;
  shape.shared_values = true;
  return shape;
}

} // namespace

TEST_CASE("decode attention: one pass over the cache") {
  const Device device = round_device();
  const KernelTime t = attention_time(grouped(64, 8192), device);
  const double cache = 64.0 * 8192 * (128 + 128) * 2;
  const double queries_and_outputs = 64.0 * 8 * (128 + 128) * 2;
  CHECK(t.traffic.si() == close_to(cache + queries_and_outputs));
  CHECK(t.memory.si() == close_to((t.traffic / stream_bandwidth(device, 0.0)).si()));
  CHECK(t.flops.si() == close_to(2.0 * 64 * 8 * 8192 * (128 + 128)));
  CHECK(t.binding == Roof::memory);
}

TEST_CASE("decode attention: half the cache's format, half its time; a window caps it") {
  const Device device = round_device();
  AttentionShape narrow = grouped(256, 65536);
  narrow.cache = Precision::fp8;
  CHECK(attention_time(narrow, device).memory.si() ==
        close_to(attention_time(grouped(256, 65536), device).memory.si() / 2.0, 1e-3));
  AttentionShape windowed = grouped(256, 65536);
  windowed.window = 4096;
  CHECK(attention_time(windowed, device).total.si() ==
        close_to(attention_time(grouped(256, 4096), device).total.si()));
}

TEST_CASE("decode attention: a tile has 16 rows however few queries share a key") {
  const Device device = round_device();
  AttentionShape sixteen = grouped(64, 8192);
  sixteen.heads = 16;
  CHECK(attention_time(sixteen, device).matrix.si() ==
        close_to(attention_time(grouped(64, 8192), device).matrix.si()));
  AttentionShape seventeen = grouped(64, 8192);
  seventeen.heads = 17;
  CHECK(attention_time(seventeen, device).matrix.si() ==
        close_to(2.0 * attention_time(sixteen, device).matrix.si()));
}

TEST_CASE(
    "decode attention: latents are read once for keys and values, and keep matrix units busy") {
  const Device device = round_device();
  const KernelTime t = attention_time(latent(128, 4096), device);
  const double cache = 128.0 * 4096 * 576 * 2;
  const double queries_and_outputs = 128.0 * 128 * (576 + 512) * 2;
  CHECK(t.traffic.si() == close_to(cache + queries_and_outputs));
  // 2 · 128 heads · (576 + 512) FLOP for 576 · 2 bytes: far right of a cache of keys and values.
  CHECK((t.flops / Bytes{cache}).si() == close_to(128.0 * (576 + 512) / 576));
  CHECK(t.binding == Roof::matrix);
}

TEST_CASE("decode attention: too few heads split their keys, and pay a second kernel") {
  const Device device = round_device();
  const std::int64_t units = device.compute_units;
  const KernelTime few = attention_time(grouped(1, 8192), device);
  const KernelTime many = attention_time(grouped(units, 8192), device);
  CHECK((few.launch - many.launch).si() == close_to(device.gap.si()));
}

} // namespace clustersim
