#pragma once
// Internal to this folder: which constants the rows of a calibration can determine.

#include "study/calibrate.hpp"
#include "study/calibration_rows.hpp"
#include "study/robust_fit.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// A constant that moves at least one row.
struct Candidate {
  CalibrationConstant constant;  // as the catalogue has it, perhaps absent
  double start = 0;              // where a fit begins
  std::vector<double> influence; // by row: d ln predicted / d ln constant
  std::int64_t led = 0, moved = 0;
};

inline constexpr double least_influence = 0.2;
inline constexpr std::int64_t least_rows = 3;

/// In the schema's order.
[[nodiscard]] std::vector<Candidate> candidates_of(const Chip& chip, const CalibrationRows& rows,
                                                   const CalibrateOptions& options);

/// A fit of `free` (indices into `candidates`) to the rows.
[[nodiscard]] FitProblem problem_of(const Chip& chip, const CalibrationRows& rows,
                                    const std::vector<Candidate>& candidates,
                                    const std::vector<std::size_t>& free,
                                    const CalibrateOptions& options);

/// What is free, and what became of the others.
struct Choice {
  std::vector<std::size_t> free; // ascending
  std::vector<HeldConstant> held, undetermined;
};

/// As `options` and the numbers of rows say.
[[nodiscard]] Choice first_choice(const std::vector<Candidate>& candidates,
                                  const CalibrateOptions& options);

/// Takes one constant out that the solution shows to be undetermined: held, or a reason to refuse.
/// False when there is none.
[[nodiscard]] bool narrow(Choice& choice, const std::vector<Candidate>& candidates,
                          const FitSolution& solution, const CalibrateOptions& options);

/// Whether `name` means the constant `key`: its key, or a table of such keys ("gemm.burst").
[[nodiscard]] bool names_constant(const std::string& name, const std::string& key);

} // namespace clustersim
