#pragma once
// `collective`: time and bandwidth by size, as nccl-tests prints them: text, JSON
// (clustersim.collective/1), CSV.

#include "report/layout.hpp"
#include "study/collective_sweep.hpp"

#include <string>
#include <string_view>

namespace clustersim {

[[nodiscard]] std::string render_collective_text(const CollectiveSweep& sweep, TextStyle style);
[[nodiscard]] std::string render_collective_json(const CollectiveSweep& sweep,
                                                 std::string_view version);
[[nodiscard]] std::string render_collective_csv(const CollectiveSweep& sweep);

} // namespace clustersim
