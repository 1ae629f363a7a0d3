#pragma once
// The report of `validate`: predicted beside measured, then how wrong in sum. Bad rows are never
// left out.

#include "report/layout.hpp"
#include "study/validate.hpp"

#include <string>
#include <string_view>

namespace clustersim {

[[nodiscard]] std::string render_validate_text(const ValidationReport& report, TextStyle style);
[[nodiscard]] std::string render_validate_json(const ValidationReport& report,
                                               std::string_view version);
[[nodiscard]] std::string render_validate_csv(const ValidationReport& report);

} // namespace clustersim
