#include "law/unfused_attention.hpp"

#include "law/gemm.hpp"
#include "law/memory_bound.hpp"

#include <algorithm>

namespace clustersim {
namespace {

/// The operands of a product outside the weights: 8 and 4 bits stay out of scores.
Precision operands_of(Precision wanted) {
  return is_quantised(wanted) ? Precision::bf16 : wanted;
}

/// A product per sequence and head with s_q rows.
GemmShape per_head(const AttentionShape& shape, std::int64_t n, std::int64_t k) {
  const Precision precision = operands_of(shape.precision);
  return {.m = shape.queries,
          .n = n,
          .k = k,
          .batch = shape.batch * shape.heads,
          .precision = precision,
          .output = precision,
          .role = shape.backward ? GemmRole::data_gradient : GemmRole::forward};
}

void add(KernelTime& sum, const KernelTime& part) {
  sum.total += part.total;
  sum.matrix += part.matrix;
  sum.vector += part.vector;
  sum.l2 += part.l2;
  sum.memory += part.memory;
  sum.launch += part.launch;
  sum.flops += part.flops;
  sum.traffic += part.traffic;
  sum.energy += part.energy;
  sum.peak = std::max(sum.peak, part.peak);
}

KernelTime softmax_time(const AttentionShape& shape, const Device& device) {
  const double scores = static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
                        static_cast<double>(shape.queries) * static_cast<double>(shape.keys);
  const double passes = shape.backward ? 3.0 : 2.0;
  return memory_kernel_time(
      {.kernel_class = KernelClass::softmax,
       .traffic = passes * scores * bytes_per_element(operands_of(shape.precision)),
       .vector_flops = Flops{0}},
      device);
}

} // namespace

KernelTime unfused_attention_time(const AttentionShape& shape, const Device& device) {
  const std::int64_t value_dim = shape.value_dim > 0 ? shape.value_dim : shape.head_dim;
  const GemmShape onto_scores = per_head(shape, shape.keys, shape.head_dim);
  const GemmShape from_scores = per_head(shape, value_dim, shape.keys);
  KernelTime sum;
  for (int repeat = 0; repeat < (shape.backward ? 2 : 1); ++repeat) {
    add(sum, gemm_time(onto_scores, device).time);
    add(sum, gemm_time(from_scores, device).time);
  }
  add(sum, softmax_time(shape, device));
  sum.binding = longest_roof(sum);
  return sum;
}

} // namespace clustersim
