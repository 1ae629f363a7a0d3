#pragma once
// Measurements of one chip → its constants (docs/explanation/calibration.md). Rows are predicted by
// the code that `run` and `validate` use; which constants are free follows from the rows
// and from nothing else (docs/explanation/calibration.md, "Which constants a fit may turn"):
//
//   rows of one configuration are one point, measured at their median
//   influence of constant j on point i     d ln predicted_i / d ln constant_j
//   a constant becomes free when points left out are predicted better with it than without, by more
//   than luck, and its value is away from the catalogue's by more than its standard error
//
// Never more than the rows determine: a constant that they cannot tell from another, or that has
// fewer than three points, stays as it is when tested constants speak for its rows as well, or when
// it is about a few stray rows; else the fit is refused, with what to measure.

#include "base/diagnostic.hpp"
#include "spec/catalogue.hpp"
#include "spec/constants.hpp"
#include "study/validate.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct CalibrateOptions {
  std::string chip;
  std::vector<std::string> fit;  // exactly these constants; empty = as the rows say
  std::vector<std::string> hold; // not these
  double prior = 0; // share by which a constant may stray from the catalogue's; 0 = any
  int threads = 0;  // 0 = as many as the machine offers; never changes the result
};

/// What became of a file's rows.
struct CalibratedFile {
  std::string path, kind;
  std::int64_t rows = 0, used = 0, other_chips = 0;
  std::map<std::string, std::int64_t> unusable; // rows of this chip, by reason
};

struct FittedConstant {
  CalibrationConstant constant; // as the catalogue has it
  double value = 0;             // as written in the overlay
  double standard_error = 0;    // relative
  std::int64_t points = 0;      // distinct rows that it moves
  bool at_limit = false;        // of what the key takes
};

/// A constant that rows are about and that was not fitted.
struct HeldConstant {
  CalibrationConstant constant;
  std::int64_t points = 0; // distinct rows that it leads
  std::string reason;      // "2 distinct rows are about it, 3 are needed"
  std::string measure;     // what would determine it
};

struct CalibratedRow {
  std::size_t file = 0;
  std::int64_t index = 0; // of the data row, 0-based
  std::string id, unit;
  double measured = 0;
  double before = 0, after = 0, left_out = 0; // predicted / measured
};

struct CalibrationErrors {
  ErrorFigures figures;      // of predicted / measured - 1, as `validate` gives them
  std::optional<double> log; // mean |ln(predicted / measured)|, percent: about what a fit minimises
};

struct CalibrationFit {
  std::string chip, chip_name, family;
  std::vector<CalibratedFile> files;
  std::vector<FittedConstant> fitted;         // in the schema's order; empty when refused
  std::vector<HeldConstant> held;             // at the catalogue's value
  std::vector<HeldConstant> undetermined;     // why the fit is refused; empty when it is not
  std::vector<CalibrationConstant> confirmed; // tested: no other value is better
  std::int64_t points = 0;                    // distinct rows
  std::vector<CalibratedRow> rows;
  CalibrationErrors before, after, left_out;
  std::int64_t unmoved = 0; // rows that no constant of the laws moves
  double condition = 1, prior = 0;
  /// Nothing to fit is no refusal: then the catalogue's constants stand.
  [[nodiscard]] bool refused() const {
    return !undetermined.empty() || unmoved == static_cast<std::int64_t>(rows.size());
  }
};

/// Nothing, with diagnostics, when the chip, a constant or a file is not what it should be.
[[nodiscard]] std::optional<CalibrationFit> calibrate(const std::vector<std::string>& paths,
                                                      const Catalogue& catalogue,
                                                      const CalibrateOptions& options,
                                                      Diagnostics& out);

/// What to measure to determine a constant: "GEMMs of fp8 with M, N and K of 4096 and more, …".
[[nodiscard]] std::string what_to_measure(const std::string& key);

} // namespace clustersim
