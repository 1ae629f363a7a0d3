#pragma once
// Number formats of matrix operands, and a small table indexed by them.

#include "base/quantity.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace clustersim {

enum class Precision { fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, int4 };

inline constexpr std::array all_precisions{Precision::fp64, Precision::fp32, Precision::tf32,
                                           Precision::fp16, Precision::bf16, Precision::fp8,
                                           Precision::fp4,  Precision::int8, Precision::int4};

/// "bf16" and so on: the spelling of the input files and reports.
[[nodiscard]] std::string_view name_of(Precision precision);
[[nodiscard]] std::optional<Precision> precision_from(std::string_view name);

/// Storage of one element. TF32 operands are stored as FP32.
[[nodiscard]] Bytes bytes_per_element(Precision precision);

/// 8 and 4 bits: operands are quantised first.
[[nodiscard]] bool is_quantised(Precision precision);

/// One optional value per precision: absent means the chip has no such path, never zero.
template <class T>
class PrecisionTable {
public:
  [[nodiscard]] const std::optional<T>& operator[](Precision p) const {
    return values_[static_cast<std::size_t>(p)];
  }
  [[nodiscard]] std::optional<T>& operator[](Precision p) {
    return values_[static_cast<std::size_t>(p)];
  }

private:
  std::array<std::optional<T>, all_precisions.size()> values_;
};

} // namespace clustersim
