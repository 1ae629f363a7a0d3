#include "law/decode_attention.hpp"

#include "base/bug.hpp"
#include "law/energy.hpp"
#include "law/memory_bound.hpp"
#include "law/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

constexpr double tile_rows = 16.0; // of the smallest matrix instruction, mma.m16n8k16

struct DecodeWork {
  Flops useful, executed;
  Bytes traffic;
  bool split = false;
};

DecodeWork work_of(const AttentionShape& shape, int units) {
  const auto batch = static_cast<double>(shape.batch), heads = static_cast<double>(shape.heads);
  const auto kv_heads = static_cast<double>(shape.kv_heads);
  const auto queries = static_cast<double>(shape.queries),
             dim = static_cast<double>(shape.head_dim);
  const double value_dim = shape.value_dim > 0 ? static_cast<double>(shape.value_dim) : dim;
  const std::int64_t window = shape.window > 0 ? shape.window : shape.keys;
  const auto keys = static_cast<double>(std::min(shape.keys, window));
  const double rows = queries * heads / kv_heads;
  const double tile = std::ceil(rows / tile_rows) * tile_rows;
  const double cached = shape.shared_values ? dim : dim + value_dim;

  DecodeWork work;
  work.useful = Flops{2.0 * batch * heads * queries * keys * (dim + value_dim)};
  work.executed = Flops{2.0 * batch * kv_heads * tile * keys * (dim + value_dim)};
  work.traffic = batch * kv_heads * keys * cached * bytes_per_element(shape.cache) +
                 batch * heads * queries * (dim + value_dim) * bytes_per_element(shape.precision);
  work.split = batch * kv_heads < units;
  return work;
}

} // namespace

KernelTime decode_attention_time(const AttentionShape& shape, const Device& device) {
  const auto& rates = device.gemm_rates[shape.precision];
  const auto& sustained = device.matrix_sustained[shape.precision];
  if (!rates || !sustained) throw Bug("attention at a precision that the chip cannot compute");
  const DecodeWork work = work_of(shape, device.compute_units);

  KernelTime time;
  time.flops = work.useful;
  time.peak = device.matrix_peak[shape.precision].value_or(FlopsPerSecond{});
  time.traffic = work.traffic;
  time.matrix = work.executed / *sustained;
  time.memory = work.traffic / stream_bandwidth(device, 0.0);
  time.launch = device.gap * (work.split ? 2.0 : 1.0) + rates->start * device.start_scale;
  time.total = time.launch + join_roofs(time.matrix, time.memory);
  time.energy = kernel_energy(time, {work.executed, rates->energy, {}, work.traffic, {}}, device);
  time.binding = longest_roof(time);
  return time;
}

} // namespace clustersim
