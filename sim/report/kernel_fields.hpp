#pragma once
// Internal to this folder: what was asked about a kernel, and what was found, by name, so that
// text, JSON and CSV cannot disagree.

#include "study/kernel_answer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clustersim {

struct KernelField {
  std::string_view key;
  std::variant<std::int64_t, double, bool, std::string> value;
};

[[nodiscard]] std::string_view kernel_name(const KernelShape& shape); // "gemm"
/// Of the question: chip, shape, number format, how it is launched.
[[nodiscard]] std::vector<KernelField> asked(const KernelAnswer& answer);
/// Of the answer, the reason last. Every answer about the same kind of kernel has the same keys.
[[nodiscard]] std::vector<KernelField> found(const KernelAnswer& answer);
[[nodiscard]] std::string text_of(const KernelField& field);

[[nodiscard]] FlopsPerSecond rate_of(const KernelAnswer& answer);
[[nodiscard]] BytesPerSecond bandwidth_of(const KernelAnswer& answer);
[[nodiscard]] Watts power_of(const KernelAnswer& answer); // of the board, mean over the call

} // namespace clustersim
