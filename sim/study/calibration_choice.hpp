#pragma once
// Internal to this folder: which constants the rows of a calibration can determine, and their fit.

#include "study/calibration_candidates.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// What a choice is made from.
struct CalibrationCase {
  const Chip& chip;
  const CalibrationRows& rows;
  const std::vector<Candidate>& candidates;
  const CalibrateOptions& options;
};

// From about 30 on, the columns of a Jacobian scaled to length 1 are too alike to tell their
// coefficients apart (Belsley, Kuh, Welsch, "Regression Diagnostics", 1980, section 3.2).
inline constexpr double most_condition = 30;
inline constexpr double most_standard_error = 0.25;
inline constexpr double most_uncovered = 0.1; // of the points: that no fitted constant moves

/// What is free, and what became of the others.
struct Choice {
  std::vector<std::size_t> free; // ascending
  FitSolution solution;          // of the free ones; empty when there is none
  std::vector<HeldConstant> held, undetermined;
  std::vector<CalibrationConstant> confirmed; // tested, and no other value is better
};

/// Exactly the constants asked for, or with a prior every one that leads a point: as far as they
/// can be told apart.
[[nodiscard]] Choice choose_asked(const CalibrationCase& in);

/// The fewest constants that earn their place (docs/explanation/calibration.md, "Which constants a
/// fit may turn"): from none, the one by which rows left out are predicted best is added as long as
/// one is better than its own standard error and than luck; one that another makes superfluous
/// leaves again.
[[nodiscard]] Choice choose_by_evidence(const CalibrationCase& in);

/// "2 distinct rows are about it, 3 are needed".
[[nodiscard]] std::string too_few(std::int64_t points, std::int64_t least);

} // namespace clustersim
