#include "spec/tuning.hpp"

#include <algorithm>

namespace clustersim {

bool FineTuning::adapts(Matrix matrix) const {
  return adapts() && std::ranges::find(targets, matrix) != targets.end();
}

/// QLoRA (Dettmers et al. 2023, arXiv 2305.14314, section 3): an FP32 scale per block, or with
/// double quantisation an 8-bit one and an FP32 constant for 256 of them.
double base_bytes(const FineTuning& tuning) {
  constexpr double scales_per_constant = 256.0, single = 4.0;
  if (!tuning.base) return 0.0;
  const double scale = tuning.double_quantised ? 1.0 + single / scales_per_constant : single;
  return bytes_per_element(*tuning.base).si() + scale / static_cast<double>(tuning.base_block);
}

} // namespace clustersim
