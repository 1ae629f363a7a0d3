#pragma once
// GEMM law (docs/explanation/gemm.md):
//
//   tiles    = batch · ceil(M/Mt) · ceil(N/Nt) · splitK          waves = ceil(tiles / U)
//   t_unit   = waves · 2·Mt·Nt·(ceil(K/splitK/64)·64 + k0) / (R/U · c)       units at full clock
//   t_power  = tiles · 2·Mt·Nt·ceil(K/splitK/64)·64 / (R · e)      the chip within its power
//   t_matrix = max(t_unit, t_power)
//   t_l2     = waves · U · (Mt + Nt) · ceil(K/splitK/64)·64 · bytes / (L2 · reuse)
//   t_memory = batch · (M·K + K·N + M·N·(accumulate ? 2 : 1)) · bytes / (h · BW)
//   t        = gap + t_start + t_cast + t_splitK
//              + min over (tile, splitK) of norm6(t_matrix, t_l2, t_memory)
//
// Systolic chips pad to the array instead of waves. At most 64 candidates, no allocation.

#include "law/device.hpp"

#include <cstdint>

namespace clustersim {

enum class GemmRole { forward, data_gradient, weight_gradient };

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  Precision precision = Precision::bf16;
  Precision output = Precision::bf16;
  GemmRole role = GemmRole::forward;
  bool accumulate = false;    // reads the output first (gradient accumulation in the GEMM)
  bool grouped = false;       // the batch are experts of unequal size (m is their mean)
  bool sparse = false;        // 2:4 structured sparsity of A, where the chip has it
  bool accumulate_16 = false; // sums in 16 bits, where the chip is faster so
  Bytes weight{};             // of one element of B where it is stored narrower; 0 = as `precision`
  friend auto operator<=>(const GemmShape&, const GemmShape&) = default;
};

struct GemmTime {
  KernelTime time;
  Tile tile; // chosen
  int split_k = 1;
  std::int64_t waves = 0;
  double tail = 0.0; // idle share of the last wave
};

[[nodiscard]] GemmTime gemm_time(const GemmShape& shape, const Device& device);

} // namespace clustersim
