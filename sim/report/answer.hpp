#pragma once
// The report of `run`: text for people, JSON for programs, both over one Answer. Pure: no files, no
// clock, no locale. Fields of the JSON: docs/reference/report.md.

#include "pipeline.hpp"
#include "report/layout.hpp"

#include <string>
#include <string_view>

namespace clustersim {

[[nodiscard]] std::string render_text(const Answer& answer, TextStyle style);
[[nodiscard]] std::string render_json(const Answer& answer, std::string_view version);

/// "file", "command line", … as the reports spell it.
[[nodiscard]] std::string_view name_of(Origin origin);

} // namespace clustersim
