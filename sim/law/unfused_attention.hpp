#pragma once
// Attention as a sequence of kernels (docs/explanation/attention.md): two batched products, four
// backward, and softmax between them, fused with scale and mask in one kernel that reads and
// writes every score:
//
//   forward   S = Q·Kᵀ,  P = softmax(S),  O = P·V
//             moves 2·b·heads·s_q·s_kv elements
//   backward  dP = dO·Vᵀ,  dV = Pᵀ·dO,  dS from P and dP,  dQ,  dK
//             moves 3·b·heads·s_q·s_kv elements
//
// beside what the products themselves read and write. Nothing is skipped under a mask. A step's
// stack lists its own score kernels (models/recipes); this is the shortest such list.

#include "law/attention.hpp"

namespace clustersim {

/// Sums over the kernels; `binding` is the roof that takes longest in sum.
[[nodiscard]] KernelTime unfused_attention_time(const AttentionShape& shape, const Device& device);

} // namespace clustersim
