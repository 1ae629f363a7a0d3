#pragma once
// Internal to this folder: the rows of a calibration, gathered and predicted. Rows of one and the
// same configuration (kernel, shape, how it was timed) are one point, measured at their median:
// repeating a measurement tells nothing about other shapes.

#include "spec/chip.hpp"
#include "study/calibrate.hpp"
#include "study/kernel_evidence.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct CalibrationRows {
  std::vector<CalibratedFile> files;
  std::vector<MeasuredKernel> kernels; // of this chip, all predictable
  std::vector<CalibratedRow> rows;     // the same, as reported
  std::vector<MeasuredKernel> points;  // distinct configurations, in the order of their first row
  std::vector<std::size_t> point_of;   // by row
};

/// Nothing, with diagnostics, when a file cannot be read or is of no kernel kind.
[[nodiscard]] std::optional<CalibrationRows> gather_rows(const std::vector<std::string>& paths,
                                                         const Catalogue& catalogue,
                                                         const Chip& chip, Diagnostics& out);

/// ln(predicted / measured), in the order of `kernels`. In parallel, each row by itself.
[[nodiscard]] std::vector<double> log_ratios(const std::vector<MeasuredKernel>& kernels,
                                             const Chip& chip, int threads);

} // namespace clustersim
