#pragma once
// Error figures over sets of rows: the summary and the groups of a validation report.

#include "base/quantity.hpp"
#include "study/validate.hpp"

#include <string_view>
#include <vector>

namespace clustersim {

/// The `q` quantile of sorted values by linear interpolation between neighbours (type 7 of Hyndman
/// and Fan, "Sample quantiles in statistical packages", 1996).
[[nodiscard]] double quantile(const std::vector<double>& sorted, double q);

/// Bucket of a job size, for the group "scale".
[[nodiscard]] std::string_view scale_of(double chips);

/// Bucket of a message, for the group "size": latency, the mixture, bandwidth.
[[nodiscard]] std::string_view size_of(Bytes bytes);

/// Fills summary and groups from the files' rows.
void summarise(ValidationReport& report);

} // namespace clustersim
