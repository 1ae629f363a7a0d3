#pragma once
// The report of `kernel`: one kernel in words, many as a table, JSON (`clustersim.kernel/1`), CSV.

#include "report/layout.hpp"
#include "study/kernel_answer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

[[nodiscard]] std::string render_kernel_text(const std::vector<KernelAnswer>& answers,
                                             TextStyle style);
[[nodiscard]] std::string render_kernel_json(const std::vector<KernelAnswer>& answers,
                                             std::string_view version);
[[nodiscard]] std::string render_kernel_csv(const std::vector<KernelAnswer>& answers);

} // namespace clustersim
