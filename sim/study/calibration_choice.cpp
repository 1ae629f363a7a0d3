#include "study/calibration_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace clustersim {
namespace {

// Belsley, Kuh, Welsch, "Regression Diagnostics" (1980), section 3.2: from about 30 on, the columns
// of a Jacobian scaled to length 1 are too alike to tell their coefficients apart.
constexpr double most_condition = 30;
constexpr double notable_share = 0.1; // of the weakest direction, squared
constexpr double most_standard_error = 0.25;
constexpr double most_uncovered = 0.1; // of the rows: that no fitted constant moves
constexpr double share_of_most = 0.5;  // of a row's largest influence: leads it as well
constexpr double reach = 0.2;          // of a constant, downwards: limits that come to bind
constexpr double widest_factor = 100;  // between a constant and its start
constexpr double first_time = 1e-7, first_size = 1e3, first_share = 0.5; // for constants at zero

bool any_names(const std::vector<std::string>& names, const std::string& key) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return names_constant(name, key); });
}

std::string table_of(const std::string& key) {
  return key.substr(0, key.rfind('.') + 1);
}

/// Where the fit of an absent constant begins: at its first given sibling (another precision's
/// share), else at that of training loads.
double seed_of(const CalibrationConstant& wanted, const std::vector<CalibrationConstant>& all) {
  for (const std::string& table : {table_of(wanted.key), std::string("gemm.sustained.")}) {
    for (const CalibrationConstant& one : all) {
      if (one.value && *one.value > 0 && one.unit == wanted.unit && table_of(one.key) == table) {
        return *one.value;
      }
    }
  }
  return wanted.unit == "s" ? first_time : wanted.unit == "B" ? first_size : first_share;
}

Candidate candidate_of(const CalibrationConstant& constant, double start) {
  return {constant, start, {}, 0, 0};
}

bool moves_any(const std::vector<double>& influence) {
  return std::any_of(influence.begin(), influence.end(),
                     [](double d) { return std::fabs(d) >= least_influence; });
}

/// The larger of the slope at the start and of that over a step down, which finds the limits that
/// do not bind yet.
std::vector<double> influence_of(const Chip& chip, const CalibrationRows& rows,
                                 const Candidate& candidate, const CalibrateOptions& options) {
  const FitProblem problem = problem_of(chip, rows, {candidate}, {0}, options);
  const double start = std::log(candidate.start);
  std::vector<double> influence = jacobian_at(problem, {start}).front();
  const double lower = std::max(problem.low.front(), start - reach);
  if (lower < start) {
    const std::vector<double> at_start = problem.residuals({start});
    const std::vector<double> below = problem.residuals({lower});
    for (std::size_t i = 0; i < influence.size(); ++i) {
      const double slope = (at_start[i] - below[i]) / (start - lower);
      influence[i] = std::fabs(slope) > std::fabs(influence[i]) ? slope : influence[i];
    }
  }
  return influence;
}

/// A row is led by the constants that move it at least half as much as the one that moves it most:
/// of two limits near each other (a unit's rate, the board's power) either may turn out to bind.
void count_rows(std::vector<Candidate>& candidates, std::size_t rows) {
  for (std::size_t i = 0; i < rows; ++i) {
    double most = 0;
    for (Candidate& candidate : candidates) {
      most = std::max(most, std::fabs(candidate.influence[i]));
    }
    const double enough = std::max(least_influence, most * share_of_most);
    for (Candidate& candidate : candidates) {
      const double size = std::fabs(candidate.influence[i]);
      candidate.moved += size >= least_influence ? 1 : 0;
      candidate.led += size >= enough ? 1 : 0;
    }
  }
}

bool moves(const Candidate& candidate, std::size_t row) {
  return std::fabs(candidate.influence[row]) >= least_influence;
}

/// Rows that one of `about` moves and none of `free`.
std::size_t uncovered(const std::vector<std::size_t>& about, const std::vector<std::size_t>& free,
                      const std::vector<Candidate>& candidates) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < candidates[about.front()].influence.size(); ++i) {
    const auto moved = [&](std::size_t which) { return moves(candidates[which], i); };
    count += std::any_of(about.begin(), about.end(), moved) &&
                     std::none_of(free.begin(), free.end(), moved)
                 ? 1
                 : 0;
  }
  return count;
}

/// Whether a constant may be left as it is: all its rows, or nearly all rows there are, are moved
/// by free constants. A stray row must not stop a fit, a good part of the rows must.
bool may_hold(std::size_t which, const Choice& choice, const std::vector<Candidate>& candidates,
              const CalibrateOptions& options) {
  if (!options.fit.empty() || choice.free.empty()) {
    return false;
  }
  if (uncovered({which}, choice.free, candidates) == 0) {
    return true;
  }
  std::vector<std::size_t> all;
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    if (!any_names(options.hold, candidates[j].constant.key)) {
      all.push_back(j);
    }
  }
  return static_cast<double>(uncovered(all, choice.free, candidates)) <=
         most_uncovered * static_cast<double>(candidates[which].influence.size());
}

/// How much the rows are about it.
double weight_of(const Candidate& candidate) {
  double sum = 0;
  for (const double one : candidate.influence) {
    sum += std::fabs(one);
  }
  return sum;
}

void set_aside(Choice& choice, std::size_t which, std::string reason,
               const std::vector<Candidate>& candidates, const CalibrateOptions& options) {
  const Candidate& candidate = candidates[which];
  std::erase(choice.free, which);
  (may_hold(which, choice, candidates, options) ? choice.held : choice.undetermined)
      .push_back({candidate.constant, candidate.led, std::move(reason),
                  what_to_measure(candidate.constant.key)});
}

std::string too_few(std::int64_t rows, std::int64_t least) {
  return fmt::format("{} {} it, {} are needed", rows, rows == 1 ? "row is about" : "rows are about",
                     least);
}

} // namespace

bool names_constant(const std::string& name, const std::string& key) {
  return key == name || (key.size() > name.size() && key.compare(0, name.size(), name) == 0 &&
                         key[name.size()] == '.');
}

std::vector<Candidate> candidates_of(const Chip& chip, const CalibrationRows& rows,
                                     const CalibrateOptions& options) {
  const std::vector<CalibrationConstant> all = constants_of(chip.kernels);
  Chip seeded = chip;
  std::vector<Candidate> candidates;
  for (const CalibrationConstant& constant : all) {
    const bool given = constant.value && *constant.value > 0;
    Candidate candidate = candidate_of(constant, given ? *constant.value : seed_of(constant, all));
    if (!given) {
      // At zero it is left alone unless it is asked for; absent, unless it would move a row.
      const bool wanted = !constant.value || any_names(options.fit, constant.key);
      if (!wanted || !moves_any(influence_of(chip, rows, candidate, options))) {
        continue;
      }
      set_constant(seeded.kernels, constant.key, candidate.start);
    }
    candidates.push_back(std::move(candidate));
  }
  for (Candidate& candidate : candidates) {
    candidate.influence = influence_of(seeded, rows, candidate, options);
  }
  const auto none = [](double d) { return d == 0.0; };
  std::erase_if(candidates, [&](const Candidate& c) {
    return std::all_of(c.influence.begin(), c.influence.end(), none);
  });
  count_rows(candidates, rows.rows.size());
  return candidates;
}

FitProblem problem_of(const Chip& chip, const CalibrationRows& rows,
                      const std::vector<Candidate>& candidates,
                      const std::vector<std::size_t>& free, const CalibrateOptions& options) {
  FitProblem problem;
  problem.prior = options.prior;
  std::vector<std::string> keys;
  for (const std::size_t which : free) {
    const Candidate& candidate = candidates[which];
    const double x = std::log(candidate.start), wide = std::log(widest_factor);
    keys.push_back(candidate.constant.key);
    problem.start.push_back(x);
    problem.low.push_back(candidate.constant.low > 0
                              ? std::min(x, std::max(x - wide, std::log(candidate.constant.low)))
                              : x - wide);
    problem.high.push_back(std::max(x, std::min(x + wide, std::log(candidate.constant.high))));
  }
  problem.residuals = [chip, keys, &rows, threads = options.threads](const std::vector<double>& x) {
    Chip changed = chip;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      set_constant(changed.kernels, keys[j], std::exp(x[j]));
    }
    return log_ratios(rows.kernels, changed, threads);
  };
  return problem;
}

Choice first_choice(const std::vector<Candidate>& candidates, const CalibrateOptions& options) {
  Choice choice;
  std::vector<std::size_t> short_of_rows;
  const std::int64_t least = options.prior > 0 ? 1 : least_rows;
  for (std::size_t j = 0; j < candidates.size(); ++j) {
    const Candidate& candidate = candidates[j];
    const bool asked = any_names(options.fit, candidate.constant.key);
    const std::int64_t rows = asked ? candidate.moved : candidate.led;
    const bool wanted = options.fit.empty() ? candidate.led > 0 : asked;
    if (!wanted) {
      continue;
    }
    if (any_names(options.hold, candidate.constant.key)) {
      choice.held.push_back({candidate.constant, candidate.led, "held as asked", ""});
    } else if (rows >= least) {
      choice.free.push_back(j);
    } else {
      short_of_rows.push_back(j);
    }
  }
  for (const std::size_t which : short_of_rows) {
    const Candidate& candidate = candidates[which];
    set_aside(choice, which, too_few(options.fit.empty() ? candidate.led : candidate.moved, least),
              candidates, options);
  }
  return choice;
}

bool narrow(Choice& choice, const std::vector<Candidate>& candidates, const FitSolution& solution,
            const CalibrateOptions& options) {
  const std::vector<std::size_t> free = choice.free;
  if (!(solution.condition <= most_condition)) {
    std::size_t lightest = free.size();
    double least_weight = 0;
    std::string others;
    const auto confused = [&](std::size_t j) {
      return solution.weakest[j] * solution.weakest[j] >= notable_share;
    };
    for (std::size_t j = 0; j < free.size(); ++j) {
      if (confused(j) &&
          (lightest == free.size() || weight_of(candidates[free[j]]) < least_weight)) {
        lightest = j;
        least_weight = weight_of(candidates[free[j]]);
      }
    }
    for (std::size_t j = 0; j < free.size(); ++j) {
      if (confused(j) && j != lightest) {
        others += (others.empty() ? "" : " and ") + candidates[free[j]].constant.key;
      }
    }
    const std::string reason = others.empty() ? "no row tells anything about it"
                                              : "the rows cannot tell it from " + others;
    set_aside(choice, free[lightest], reason, candidates, options);
    return true;
  }
  const auto worst =
      std::max_element(solution.standard_error.begin(), solution.standard_error.end());
  if (*worst > most_standard_error && options.prior <= 0) {
    const auto j = static_cast<std::size_t>(worst - solution.standard_error.begin());
    set_aside(choice, free[j],
              fmt::format("the rows tell it to within {:.0f} % only", *worst * 100.0), candidates,
              options);
    return true;
  }
  return false;
}

} // namespace clustersim
