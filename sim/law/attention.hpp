#pragma once
// Fused attention law (docs/explanation/attention.md):
//
//   FLOP     = 4·b·heads·s_q·s_kv·d forward (a causal mask leaves s_kv - (s_q - 1)/2),
//              2.5 times that backward
//   t_matrix = work of the busiest unit, blocks of 128 queries, / (e(d) · R) + w · waves
//   t_memory = (Q + K + V + O) bytes / (copy · BW); only these touch DRAM
//   t        = gap + start + norm6(t_matrix, t_memory)
//
// Decode (`decode`) has a law of its own, law/decode_attention.hpp.
//
// Unfused attention is no kernel of its own: a step lowers it to two batched GEMMs and the recipe's
// score kernels; as one operator it is in law/unfused_attention.hpp.

#include "law/device.hpp"

#include <cstdint>

namespace clustersim {

struct AttentionShape {
  std::int64_t batch = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t queries = 0, keys = 0;
  bool causal = true;
  bool backward = false;
  Precision precision = Precision::bf16;
  std::int64_t value_dim = 0; // head dim of V where it differs (MLA); 0 = head_dim
  std::int64_t window = 0;    // keys each query sees (sliding window); 0 = all
  bool decode = false;        // one query per sequence over a cache, keys split over the chip
  bool shared_values = false; // decode: values are the first value_dim of each key (MLA's latents)
  Precision cache = Precision::bf16; // decode: as keys and values are stored
  friend auto operator<=>(const AttentionShape&, const AttentionShape&) = default;
};

[[nodiscard]] KernelTime attention_time(const AttentionShape& shape, const Device& device);

} // namespace clustersim
