#pragma once
// One kernel on one chip, answered and explained: how long, how far from the roofline, which roof
// binds and why. The times are those of the laws of `run`; nothing is modelled here.
//
//   fraction = max(FLOP / peak, bytes / bandwidth) / time
//
// with the data sheet's dense peak of the path that the work takes and its DRAM bandwidth (L2's for
// a tensor that stays there): the share of the plain roofline, launch and clocks included.

#include "law/attention.hpp"
#include "law/gemm.hpp"
#include "law/memory_bound.hpp"
#include "spec/chip.hpp"
#include "study/kernel_evidence.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace clustersim {

using KernelShape = std::variant<GemmShape, AttentionShape, MemoryKernel>;

/// Which tiles a GEMM was cut into.
struct Tiling {
  Tile tile;
  int split_k = 1;
  std::int64_t waves = 0;
  double tail = 0; // idle share of the last wave
};

struct KernelAnswer {
  std::string chip; // id
  std::string chip_name;
  KernelShape shape;
  KernelSetting setting;
  std::string attention_kernel; // that ran; empty for other kernels
  KernelTime time;
  std::optional<Tiling> tiling;
  Seconds roofline;               // the least time that the data sheet allows
  std::string reason;             // why the roof that binds does
  std::vector<std::string> notes; // sentences: what the chip lacks, what a cap does
  [[nodiscard]] double fraction() const { return roofline / time.total; }
};

/// The answer, or a sentence why this chip has none.
[[nodiscard]] std::variant<KernelAnswer, std::string>
answer_kernel(const KernelShape& shape, const KernelSetting& setting, const Chip& chip);

/// Names of the fused attention kernels that this chip's calibration knows.
[[nodiscard]] std::vector<std::string> attention_kernels_of(const Chip& chip);

/// What a GEMM at this precision writes when nothing else is asked for: 16-bit results for 8- and
/// 4-bit operands, FP32 for TF32, else its own precision.
[[nodiscard]] Precision usual_output(Precision precision);

} // namespace clustersim
