#include "law/attention.hpp"

#include "base/bug.hpp"
#include "law/decode_attention.hpp"
#include "law/energy.hpp"
#include "law/roofline.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace clustersim {

namespace {

constexpr double block = 128.0;       // queries, and keys, of one block
constexpr double backward_work = 2.5; // five products instead of two: QKᵀ is computed again
constexpr double few_waves = 4.0;     // below this many, whole waves are what counts

// e(d): linear in d between the measured head dims, the nearest one outside.
double at_head_dim(const std::map<int, double>& rates, double dim) {
  if (rates.empty()) throw Bug("attention rate without any head dim");
  const auto above = std::ranges::find_if(
      rates, [dim](const auto& entry) { return static_cast<double>(entry.first) >= dim; });
  if (above == rates.begin()) return above->second;
  if (above == rates.end()) return std::prev(above)->second;
  const auto below = std::prev(above);
  const double t = (dim - below->first) / (above->first - below->first);
  return below->second + t * (above->second - below->second);
}

const AttentionRate& rate_on(const Device& device) {
  const auto found =
      std::ranges::find(device.kernels.attention, device.attention_kernel, &AttentionRate::kernel);
  if (found == device.kernels.attention.end()) {
    throw Bug("fused attention on a device without kernel '" + device.attention_kernel + "'");
  }
  return *found;
}

struct KeyWork {
  double mean = 0.0;    // keys per query
  double blocks = 0.0;  // key blocks per query block, diagonal blocks whole
  double longest = 0.0; // key blocks of the busiest query block
};

// Mean of min(x, most) over x = first, first + 1 ... last.
double mean_up_to(double first, double last, double most) {
  if (most >= last) return (first + last) / 2.0;
  if (most <= first) return most;
  const double rising = (first + most) * (most - first + 1.0) / 2.0;
  return (rising + most * (last - most)) / (last - first + 1.0);
}

// Queries are the last of the keys. Without a window a causal query i of Q sees K - Q + i + 1 keys,
// with one of W keys at most W of them: early queries see fewer.
KeyWork keys_seen(const AttentionShape& shape) {
  const auto queries = static_cast<double>(shape.queries), keys = static_cast<double>(shape.keys);
  const double rows = std::ceil(queries / block), all = std::ceil(keys / block);
  KeyWork work{keys, all, all};
  const double window = shape.window > 0 ? static_cast<double>(shape.window) : keys;
  // A window of W keys straddles one block more than it fills.
  const double widest = shape.window > 0 ? std::min(all, std::ceil(window / block) + 1.0) : all;
  work.longest = widest;
  if (shape.causal) {
    const bool more_queries = queries > keys; // the first of them see nothing
    const double seen = mean_up_to(std::max(1.0, keys - queries + 1.0), keys, window);
    work.mean = more_queries ? seen * keys / queries : seen;
    work.blocks = mean_up_to(std::max(1.0, all - rows + 1.0), all, widest);
  } else {
    work.mean = std::min(keys, window);
    work.blocks = widest;
  }
  return work;
}

// Work of the busiest compute unit: an even share when blocks are many, whole waves when few, never
// less than the longest single block.
Seconds busiest_unit(double blocks, const KeyWork& work, double units, Seconds per_block) {
  const double share = blocks / units;
  const double waves = std::ceil(share);
  const double even = (share < few_waves ? waves : share) * work.blocks;
  return std::max(even, work.longest) * per_block;
}

Bytes moved(const AttentionShape& shape, double value_dim) {
  const auto dim = static_cast<double>(shape.head_dim);
  const double q = static_cast<double>(shape.heads) * static_cast<double>(shape.queries);
  const double kv = static_cast<double>(shape.kv_heads) * static_cast<double>(shape.keys);
  const double forward = (q + kv) * (dim + value_dim);
  // Backward reads Q, K, V, O and dO and writes dQ, dK, dV: two of each, and O once more.
  const double elements = shape.backward ? 2.0 * forward + q * value_dim : forward;
  return static_cast<double>(shape.batch) * elements * bytes_per_element(shape.precision);
}

bool is_empty(const AttentionShape& shape) {
  const auto least = std::min(
      {shape.batch, shape.heads, shape.kv_heads, shape.head_dim, shape.queries, shape.keys});
  if (std::min({least, shape.value_dim, shape.window}) < 0) {
    throw Bug("attention with a negative dimension");
  }
  return least == 0;
}

} // namespace

KernelTime attention_time(const AttentionShape& shape, const Device& device) {
  if (is_empty(shape)) return {};
  if (shape.decode) return decode_attention_time(shape, device);
  const AttentionRate& rate = rate_on(device);
  const auto& peak = device.matrix_peak[shape.precision];
  if (!peak) throw Bug("attention at a precision that the chip cannot compute");
  const auto dim = static_cast<double>(shape.head_dim);
  const double value_dim = shape.value_dim > 0 ? static_cast<double>(shape.value_dim) : dim;
  const double mean_dim = (dim + value_dim) / 2.0;
  const double passes = shape.backward ? backward_work : 1.0;
  const double fraction = at_head_dim(shape.backward ? rate.backward : rate.forward, mean_dim);
  const double heads = static_cast<double>(shape.batch) * static_cast<double>(shape.heads);
  const KeyWork work = keys_seen(shape);
  const double units = device.compute_units;
  const double blocks = heads * std::ceil(static_cast<double>(shape.queries) / block);

  KernelTime time;
  time.peak = *peak;
  time.flops =
      Flops{4.0 * passes * heads * static_cast<double>(shape.queries) * work.mean * mean_dim};
  const FlopsPerSecond unit_rate = *peak * (fraction * device.board_clock / units);
  const Flops per_block{4.0 * passes * block * block * mean_dim};
  time.matrix = busiest_unit(blocks, work, units, per_block / unit_rate) +
                rate.wave * (std::ceil(blocks / units) * device.start_scale);
  time.traffic = moved(shape, value_dim);
  time.memory = time.traffic / (device.memory * device.kernels.memory.copy);
  time.launch = device.gap + rate.start * device.start_scale;
  time.total = time.launch + join_roofs(time.matrix, time.memory);
  const Flops executed = per_block * (blocks * work.blocks);
  const JoulesPerFlop per_flop = device.gemm_rates[shape.precision]->energy;
  time.energy = kernel_energy(time, {executed, per_flop, {}, time.traffic, {}}, device);
  time.binding = longest_roof(time);
  return time;
}

} // namespace clustersim
