#pragma once
// The constants of a calibration one by one, under the keys that a chip's file overrides them by:
// what a fit turns. Names, units and ranges are the schema's (sim/spec/calibration_schema.cpp);
// attention's constants, which a file lists by kernel, are "attention.flash-2.forward.128".

#include "spec/calibration.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct CalibrationConstant {
  std::string key;
  std::string unit;            // SI: "1" for shares, "s", "B"
  std::string help;            // one line
  double low = 0, high = 0;    // in that unit
  std::optional<double> value; // absent: the laws fall back on another constant
};

/// Every share, time and size that the laws read, in the schema's order. Whole numbers (tiles,
/// padding) and the board behind the figures (power.reference_*) are choices, not fits.
[[nodiscard]] std::vector<CalibrationConstant> constants_of(const KernelCalibration& calibration);

/// `value` in SI. A key or value that the schema does not take is a bug of the caller's.
void set_constant(KernelCalibration& calibration, std::string_view key, double value);

/// The key's parts, as tables within tables: "attention", "flash-2", "forward", "128".
[[nodiscard]] std::vector<std::string> path_of(const std::string& key);

/// As a file would say it, to four digits: 0.7123, 2.874 us.
[[nodiscard]] std::string constant_text(const CalibrationConstant& constant, double value);
/// What that text means.
[[nodiscard]] double as_written(const CalibrationConstant& constant, double value);

} // namespace clustersim
