#pragma once
// The report of `run` on a scenario that serves: text and JSON over one ServingAnswer
// (`clustersim.inference/1`, docs/explanation/inference.md).

#include "analysis/serving.hpp"
#include "report/layout.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

[[nodiscard]] std::string render_serving_text(const ServingAnswer& answer, TextStyle style);
[[nodiscard]] std::string render_serving_json(const ServingAnswer& answer,
                                              std::string_view version);

/// What the answer rests on: the scenario's own sentences, then those of serving.
[[nodiscard]] std::vector<std::string> serving_assumptions(const ServingAnswer& answer);

/// Where time that one token takes goes, beside its least: what is read at the data sheet's
/// bandwidth, as a share.
[[nodiscard]] double bandwidth_share(const ServingAnswer& answer);

} // namespace clustersim
