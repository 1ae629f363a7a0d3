#pragma once
// What `calibrate` found: as text, as JSON, and as the overlay that --calibration reads
// (spec/overlay.hpp).

#include "report/layout.hpp"
#include "study/calibrate.hpp"

#include <string>
#include <string_view>

namespace clustersim {

[[nodiscard]] std::string render_calibration_text(const CalibrationFit& fit, TextStyle style);
[[nodiscard]] std::string render_calibration_json(const CalibrationFit& fit,
                                                  std::string_view version);
/// `date` as given, or empty. Only of a fit that was not refused.
[[nodiscard]] std::string render_overlay(const CalibrationFit& fit, std::string_view version,
                                         std::string_view date);

} // namespace clustersim
