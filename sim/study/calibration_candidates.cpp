#include "study/calibration_candidates.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

constexpr double share_of_most = 0.5; // of a point's largest influence: leads it as well
constexpr double reach = 0.2;         // of a constant, downwards: limits that come to bind
constexpr double widest_factor = 100; // between a constant and its start
constexpr double first_time = 1e-7, first_size = 1e3, first_share = 0.5; // for constants at zero

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
  return {constant, start, {}, 0, 0, {}};
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

/// A point is led by the constants that move it at least half as much as the one that moves it
/// most: of two limits near each other (a unit's rate, the board's power) either may turn out to
/// bind.
void count_points(std::vector<Candidate>& candidates, std::size_t points) {
  for (std::size_t i = 0; i < points; ++i) {
    double most = 0;
    for (Candidate& candidate : candidates) {
      most = std::max(most, std::fabs(candidate.influence[i]));
    }
    const double enough = std::max(least_influence, most * share_of_most);
    for (Candidate& candidate : candidates) {
      const double size = std::fabs(candidate.influence[i]);
      candidate.moved += size >= least_influence ? 1 : 0;
      candidate.led += size >= enough ? 1 : 0;
      candidate.leads.push_back(size >= enough);
    }
  }
}

} // namespace

bool names_constant(const std::string& name, const std::string& key) {
  return key == name || (key.size() > name.size() && key.compare(0, name.size(), name) == 0 &&
                         key[name.size()] == '.');
}

bool any_names(const std::vector<std::string>& names, const std::string& key) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return names_constant(name, key); });
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
  count_points(candidates, rows.points.size());
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
    return log_ratios(rows.points, changed, threads);
  };
  return problem;
}

} // namespace clustersim
