#pragma once
// A sweep as a table, CSV, JSON or picture.

#include "report/layout.hpp"
#include "study/sweep.hpp"

#include <string>
#include <string_view>

namespace clustersim {

/// `metric` is an index into sweep_metrics.
[[nodiscard]] std::string render_sweep_text(const Sweep& sweep, std::size_t metric,
                                            TextStyle style);
[[nodiscard]] std::string render_sweep_csv(const Sweep& sweep);
[[nodiscard]] std::string render_sweep_json(const Sweep& sweep, std::string_view version);

/// Line of one varied key, heat map of two. Throws Bug for more.
[[nodiscard]] std::string render_sweep_svg(const Sweep& sweep, std::size_t metric);

/// "31.56 s", "46.2 %"; "oom" and "n/a" where there is no result.
[[nodiscard]] std::string sweep_cell(const SweepPoint& point, std::size_t metric);

} // namespace clustersim
