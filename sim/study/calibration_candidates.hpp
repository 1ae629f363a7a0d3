#pragma once
// Internal to this folder: constants that the rows of a calibration are about, and a fit of some.

#include "study/calibrate.hpp"
#include "study/calibration_rows.hpp"
#include "study/robust_fit.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// A constant that moves at least one point.
struct Candidate {
  CalibrationConstant constant;  // as the catalogue has it, perhaps absent
  double start = 0;              // where a fit begins
  std::vector<double> influence; // by point: d ln predicted / d ln constant
  std::int64_t led = 0, moved = 0;
  std::vector<bool> leads; // by point
};

inline constexpr double least_influence = 0.2;
inline constexpr std::int64_t least_points = 3;

[[nodiscard]] inline bool moves(const Candidate& candidate, std::size_t point) {
  const double influence = candidate.influence[point];
  return influence >= least_influence || influence <= -least_influence;
}

/// In the schema's order.
[[nodiscard]] std::vector<Candidate> candidates_of(const Chip& chip, const CalibrationRows& rows,
                                                   const CalibrateOptions& options);

/// A fit of `free` (indices into `candidates`) to the points.
[[nodiscard]] FitProblem problem_of(const Chip& chip, const CalibrationRows& rows,
                                    const std::vector<Candidate>& candidates,
                                    const std::vector<std::size_t>& free,
                                    const CalibrateOptions& options);

/// Whether `name` means the constant `key`: its key, or a table of such keys ("gemm.burst").
[[nodiscard]] bool names_constant(const std::string& name, const std::string& key);
[[nodiscard]] bool any_names(const std::vector<std::string>& names, const std::string& key);

} // namespace clustersim
