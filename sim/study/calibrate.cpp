#include "study/calibrate.hpp"

#include "base/text.hpp"
#include "study/calibration_choice.hpp"
#include "study/calibration_rows.hpp"
#include "study/robust_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

constexpr double at_limit_margin = 1e-3; // relative

/// Names on the command line must mean a constant of this chip.
void check_names(const std::vector<std::string>& names, const char* option, const Chip& chip,
                 Diagnostics& out) {
  const std::vector<CalibrationConstant> all = constants_of(chip.kernels);
  std::vector<std::string> known;
  for (const CalibrationConstant& one : all) {
    known.push_back(one.key);
  }
  for (const std::string& name : names) {
    const bool found = std::any_of(known.begin(), known.end(), [&](const std::string& key) {
      return names_constant(name, key);
    });
    if (!found) {
      Diagnostic diagnostic;
      diagnostic.where.file = option;
      diagnostic.message =
          fmt::format("no constant '{}' of {}", printable(name.substr(0, 64)), chip.id);
      diagnostic.expected =
          "a key of a calibration, such as gemm.start, or a table such as gemm.burst";
      diagnostic.suggestion = nearest_name(name.substr(0, 64), known).value_or("");
      out.add(std::move(diagnostic));
    }
  }
}

CalibrationErrors errors_of(const std::vector<CalibratedRow>& rows, double CalibratedRow::*ratio) {
  std::vector<ValidatedRow> scored(rows.size());
  std::vector<const ValidatedRow*> pointers;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scored[i].status = RowStatus::ok;
    scored[i].measured = rows[i].measured;
    scored[i].ratio = rows[i].*ratio;
    scored[i].predicted = rows[i].measured * rows[i].*ratio;
    pointers.push_back(&scored[i]);
  }
  double sum = 0;
  for (const CalibratedRow& row : rows) {
    sum += std::fabs(std::log(row.*ratio));
  }
  return {error_figures(pointers), sum / static_cast<double>(rows.size()) * 100.0};
}

void set_ratios(std::vector<CalibratedRow>& rows, double CalibratedRow::*ratio,
                const std::vector<double>& log_ratios) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].*ratio = std::exp(std::clamp(log_ratios[i], -20.0, 20.0));
  }
}

/// Constants as the overlay will hold them, and every row with them.
void settle(CalibrationFit& fit, const CalibrationCase& in, const Choice& choice) {
  Chip changed = in.chip;
  const FitSolution& solution = choice.solution;
  const FitProblem problem = problem_of(in.chip, in.rows, in.candidates, choice.free, in.options);
  for (std::size_t j = 0; j < choice.free.size(); ++j) {
    const Candidate& candidate = in.candidates[choice.free[j]];
    FittedConstant fitted;
    fitted.constant = candidate.constant;
    fitted.value = as_written(candidate.constant, std::exp(solution.x[j]));
    fitted.standard_error = solution.standard_error[j];
    fitted.points = candidate.moved;
    fitted.at_limit = solution.x[j] >= problem.high[j] - at_limit_margin ||
                      solution.x[j] <= problem.low[j] + at_limit_margin;
    set_constant(changed.kernels, candidate.constant.key, fitted.value);
    fit.fitted.push_back(std::move(fitted));
  }
  fit.condition = solution.condition;
  const std::vector<double> after = log_ratios(in.rows.kernels, changed, in.options.threads);
  std::vector<double> left_out = after; // a point is left out with all its rows
  for (std::size_t i = 0; i < after.size() && !choice.free.empty(); ++i) {
    const std::size_t point = in.rows.point_of[i];
    left_out[i] += solution.left_out[point] - solution.residuals[point];
  }
  set_ratios(fit.rows, &CalibratedRow::after, after);
  set_ratios(fit.rows, &CalibratedRow::left_out, left_out);
  fit.after = errors_of(fit.rows, &CalibratedRow::after);
  fit.left_out = errors_of(fit.rows, &CalibratedRow::left_out);
}

std::int64_t count_unmoved(const std::vector<Candidate>& candidates, const CalibrationRows& rows) {
  std::int64_t count = 0;
  for (const std::size_t point : rows.point_of) {
    const auto moved = [&](const Candidate& candidate) { return moves(candidate, point); };
    count += std::none_of(candidates.begin(), candidates.end(), moved) ? 1 : 0;
  }
  return count;
}

/// --fit of a constant that moves no row at all.
void refuse_unmoved(const CalibrateOptions& options, const Chip& chip,
                    const std::vector<Candidate>& candidates, Choice& choice) {
  for (const std::string& name : options.fit) {
    const auto named = [&](const Candidate& c) { return names_constant(name, c.constant.key); };
    if (std::any_of(candidates.begin(), candidates.end(), named)) {
      continue;
    }
    for (const CalibrationConstant& constant : constants_of(chip.kernels)) {
      if (names_constant(name, constant.key)) {
        choice.undetermined.push_back(
            {constant, 0, "no row is about it", what_to_measure(constant.key)});
      }
    }
  }
}

} // namespace

std::optional<CalibrationFit> calibrate(const std::vector<std::string>& paths,
                                        const Catalogue& catalogue, const CalibrateOptions& options,
                                        Diagnostics& out) {
  const std::optional<Chip> chip = load_chip(catalogue, options.chip, out);
  if (!chip) {
    return std::nullopt;
  }
  check_names(options.fit, "--fit", *chip, out);
  check_names(options.hold, "--hold", *chip, out);
  std::optional<CalibrationRows> rows = gather_rows(paths, catalogue, *chip, out);
  if (out.has_errors() || !rows) {
    return std::nullopt;
  }
  CalibrationFit fit;
  fit.chip = chip->id;
  fit.chip_name = chip->name;
  fit.family = chip->kernels.id;
  fit.files = rows->files;
  fit.rows = rows->rows;
  fit.points = static_cast<std::int64_t>(rows->points.size());
  fit.prior = options.prior;
  if (rows->rows.empty()) {
    return fit;
  }
  set_ratios(fit.rows, &CalibratedRow::before, log_ratios(rows->kernels, *chip, options.threads));
  fit.before = errors_of(fit.rows, &CalibratedRow::before);
  const std::vector<Candidate> candidates = candidates_of(*chip, *rows, options);
  fit.unmoved = count_unmoved(candidates, *rows);
  const CalibrationCase in{*chip, *rows, candidates, options};
  const bool asked = !options.fit.empty() || options.prior > 0;
  Choice choice = asked ? choose_asked(in) : choose_by_evidence(in);
  refuse_unmoved(options, *chip, candidates, choice);
  if (choice.undetermined.empty()) {
    settle(fit, in, choice);
  }
  fit.confirmed = std::move(choice.confirmed);
  fit.held = std::move(choice.held);
  fit.undetermined = std::move(choice.undetermined);
  return fit;
}

} // namespace clustersim
