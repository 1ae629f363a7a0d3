// The fewest constants that earn their place: forward selection by the error of rows left out
// (docs/explanation/calibration.md, "Which constants a fit may turn").

#include "base/bug.hpp"
#include "study/calibration_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace clustersim {
namespace {

constexpr double least_gain = 0.002; // in mean |ln| of the points that it moves: timers repeat so
constexpr double tie = 0.0005;       // the same, between two constants
constexpr double quantile = 2.576;   // normal, of 99 % two-sided: one of many candidates is lucky
constexpr double trial_tolerance = 1e-4; // of ln: a hundredth of a percent
constexpr std::size_t tried = 5; // candidates of a round that are fitted together with the rest
constexpr std::size_t points_each = 3; // per free constant, at least

/// Some constants fitted.
struct Trial {
  std::vector<std::size_t> free; // ascending
  FitSolution fit;
  double loss = 0; // mean |ln| of the points, each left out
};

struct Paired {
  double mean = 0, error = 0; // of a difference, over points
  std::size_t points = 0;
};

double loss_of(const FitSolution& fit) {
  double sum = 0;
  for (const double r : fit.left_out) {
    sum += std::fabs(r);
  }
  return sum / static_cast<double>(std::max<std::size_t>(fit.left_out.size(), 1));
}

/// Everything as the catalogue has it.
Trial nothing_free(const CalibrationCase& in) {
  Trial trial;
  trial.fit.residuals = log_ratios(in.rows.points, in.chip, in.options.threads);
  trial.fit.left_out = trial.fit.residuals;
  trial.loss = loss_of(trial.fit);
  return trial;
}

std::optional<double> value_in(const Trial& trial, std::size_t which) {
  const auto at = std::find(trial.free.begin(), trial.free.end(), which);
  return at == trial.free.end()
             ? std::nullopt
             : std::optional(trial.fit.x[static_cast<std::size_t>(at - trial.free.begin())]);
}

FitProblem problem_from(const CalibrationCase& in, const std::vector<std::size_t>& free,
                        const Trial& from) {
  FitProblem problem = problem_of(in.chip, in.rows, in.candidates, free, in.options);
  problem.tolerance = trial_tolerance;
  for (std::size_t j = 0; j < free.size(); ++j) {
    problem.start[j] = std::clamp(value_in(from, free[j]).value_or(problem.start[j]),
                                  problem.low[j], problem.high[j]);
  }
  return problem;
}

Trial fitted(const CalibrationCase& in, std::vector<std::size_t> free, const Trial& from) {
  std::sort(free.begin(), free.end());
  if (free.empty()) {
    return nothing_free(in);
  }
  Trial trial;
  trial.fit = robust_fit(problem_from(in, free, from));
  trial.free = std::move(free);
  trial.loss = loss_of(trial.fit);
  return trial;
}

Trial with(const CalibrationCase& in, const Trial& base, std::size_t which) {
  std::vector<std::size_t> free = base.free;
  free.push_back(which);
  return fitted(in, std::move(free), base);
}

Trial without(const CalibrationCase& in, const Trial& base, std::size_t which) {
  std::vector<std::size_t> free = base.free;
  std::erase(free, which);
  return fitted(in, std::move(free), base);
}

/// How much closer `better` predicts points left out than `worse`, over those that `counts` names.
template <class Counts>
Paired gain(const Trial& better, const Trial& worse, const Counts& counts) {
  Paired out;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < worse.fit.left_out.size(); ++i) {
    if (counts(i)) {
      const double d = std::fabs(worse.fit.left_out[i]) - std::fabs(better.fit.left_out[i]);
      sum += d;
      squares += d * d;
      ++out.points;
    }
  }
  if (out.points > 1) {
    const auto n = static_cast<double>(out.points);
    out.mean = sum / n;
    out.error = std::sqrt(std::max(0.0, squares / n - out.mean * out.mean) / (n - 1));
  }
  return out;
}

/// Student's t for `quantile` (Abramowitz and Stegun, 26.7.5).
double student(std::size_t freedom) {
  const double z = quantile, v = static_cast<double>(std::max<std::size_t>(freedom, 1));
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v);
}

double standard_error(const Trial& trial, std::size_t which) {
  const auto at = std::find(trial.free.begin(), trial.free.end(), which);
  return trial.fit.standard_error[static_cast<std::size_t>(at - trial.free.begin())];
}

/// Whether points left out are predicted better with the constant free than without, by more than
/// luck, and its value is not the catalogue's.
bool earns(const CalibrationCase& in, std::size_t which, const Trial& with, const Trial& without) {
  const Candidate& candidate = in.candidates[which];
  const Paired better = gain(with, without, [&](std::size_t i) { return moves(candidate, i); });
  if (with.loss >= without.loss || better.mean < std::max(least_gain, better.error)) {
    return false;
  }
  const double away = std::fabs(value_in(with, which).value_or(0) - std::log(candidate.start));
  return !candidate.constant.value ||
         away > student(better.points - 1) * standard_error(with, which);
}

/// Why the points do not determine the constants of a trial; empty when they do.
std::string doubt(const CalibrationCase& in, const Trial& trial, std::size_t newest) {
  if (trial.free.size() * points_each > in.rows.points.size()) {
    return fmt::format("{} constants for {} distinct rows are too many", trial.free.size(),
                       in.rows.points.size());
  }
  if (!(trial.fit.condition <= most_condition)) {
    return "the rows cannot tell it from constants that are fitted";
  }
  const double error = standard_error(trial, newest);
  return error <= most_standard_error
             ? ""
             : fmt::format("the rows tell it to within {:.0f} % only", error * 100.0);
}

/// Mean |ln| at the best of some steps of one constant: good enough to rank them.
double best_alone(const CalibrationCase& in, const Chip& chip, std::size_t which) {
  const FitProblem problem = problem_of(chip, in.rows, in.candidates, {which}, in.options);
  double least = std::numeric_limits<double>::infinity();
  for (const double step :
       {-0.6, -0.4, -0.25, -0.15, -0.1, -0.05, -0.02, 0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6}) {
    const double x =
        std::clamp(problem.start.front() + step, problem.low.front(), problem.high.front());
    double sum = 0;
    for (const double r : problem.residuals({x})) {
      sum += std::fabs(r);
    }
    least = std::min(least, sum);
  }
  return least / static_cast<double>(in.rows.points.size());
}

struct Scored {
  std::size_t which = 0;
  double loss = 0;
};

/// The candidates that alone, all others as in `base`, bring the points closest.
std::vector<std::size_t> shortlist(const CalibrationCase& in, const Trial& base,
                                   const std::vector<bool>& barred) {
  Chip chip = in.chip;
  for (std::size_t j = 0; j < base.free.size(); ++j) {
    set_constant(chip.kernels, in.candidates[base.free[j]].constant.key, std::exp(base.fit.x[j]));
  }
  std::vector<Scored> scores;
  for (std::size_t which = 0; which < in.candidates.size(); ++which) {
    const Candidate& candidate = in.candidates[which];
    if (barred[which] || candidate.moved < least_points || value_in(base, which)) {
      continue;
    }
    scores.push_back({which, best_alone(in, chip, which)});
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const Scored& a, const Scored& b) { return a.loss < b.loss; });
  std::vector<std::size_t> out;
  for (const Scored& one : scores) {
    if (out.size() < tried) {
      out.push_back(one.which);
    }
  }
  return out;
}

/// How few kernels a constant is about: a library's at one precision are fewer than a family's, a
/// law's fewer than those of all laws.
std::size_t narrowness(const Candidate& candidate) {
  const std::vector<std::string> path = path_of(candidate.constant.key);
  const bool of_all_laws = path.front() == "launch" || path.front() == "power";
  return path.size() - (of_all_laws ? 1 : 0);
}

struct Round {
  const CalibrationCase& in;
  Trial now;
  std::vector<bool> barred;
  std::vector<std::string> reasons; // by candidate: why it is no fit of these rows' alone
};

void bar(Round& round, std::size_t which, std::string reason) {
  round.barred[which] = true;
  round.reasons[which] = std::move(reason);
}

struct Contender {
  std::size_t which = 0;
  Trial trial;
};

/// Constants that earn their place, the best first.
std::vector<Contender> contenders(Round& round) {
  std::vector<Contender> out;
  for (const std::size_t which : shortlist(round.in, round.now, round.barred)) {
    Contender one{which, with(round.in, round.now, which)};
    if (!earns(round.in, which, one.trial, round.now)) {
      continue;
    }
    if (std::string reason = doubt(round.in, one.trial, which); !reason.empty()) {
      bar(round, which, std::move(reason));
      continue;
    }
    out.push_back(std::move(one));
  }
  std::stable_sort(out.begin(), out.end(), [](const Contender& a, const Contender& b) {
    return a.trial.loss < b.trial.loss;
  });
  return out;
}

/// Whether `rival` explains the points about as well as `best`.
bool ties(const CalibrationCase& in, const Contender& best, const Contender& rival) {
  const Paired d = gain(best.trial, rival.trial, [&](std::size_t i) {
    return moves(in.candidates[best.which], i) || moves(in.candidates[rival.which], i);
  });
  return d.mean <= std::max(tie, d.error);
}

std::string key_of(const Round& round, std::size_t which) {
  return round.in.candidates[which].constant.key;
}

/// Two constants that each explain the points about as well: both, if together they are better than
/// either; else the one that is about fewer kernels; else neither. False when both are barred.
bool settle_tie(Round& round, Contender& best, Contender& rival) {
  Trial both = with(round.in, best.trial, rival.which);
  if (doubt(round.in, both, rival.which).empty() &&
      earns(round.in, rival.which, both, best.trial) &&
      earns(round.in, best.which, both, rival.trial)) {
    best.trial = std::move(both);
    return true;
  }
  const std::size_t of_best = narrowness(round.in.candidates[best.which]);
  const std::size_t of_rival = narrowness(round.in.candidates[rival.which]);
  const auto alike = [&](std::size_t which) {
    return "the rows cannot tell it from " + key_of(round, which);
  };
  if (of_best != of_rival) {
    if (of_best < of_rival) {
      std::swap(best, rival);
    }
    bar(round, rival.which, alike(best.which) + ", which is about fewer kernels");
    return true;
  }
  bar(round, best.which, alike(rival.which));
  bar(round, rival.which, alike(best.which));
  return false;
}

/// Constants that others have made superfluous leave.
void prune(Round& round) {
  for (bool again = true; again && round.now.free.size() > 1;) {
    again = false;
    for (const std::size_t which : round.now.free) {
      Trial fewer = without(round.in, round.now, which);
      if (!earns(round.in, which, round.now, fewer)) {
        bar(round, which, "");
        round.now = std::move(fewer);
        again = true;
        break;
      }
    }
  }
}

/// One constant, or two that belong together, more. False when none is left.
bool advance(Round& round) {
  std::vector<Contender> all = contenders(round);
  if (all.empty()) {
    return false;
  }
  Contender best = std::move(all.front());
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool together = best.trial.free.size() > round.now.free.size() + 1;
    if (!together && ties(round.in, best, all[i]) && !settle_tie(round, best, all[i])) {
      return true; // both are barred: the rest once more
    }
  }
  round.now = std::move(best.trial);
  prune(round);
  return true;
}

/// Points whose leading constants are all in doubt: no free one, and none that was tested and
/// stands.
std::vector<bool> open_points(const CalibrationCase& in, const std::vector<bool>& in_doubt) {
  std::vector<bool> open(in.rows.points.size(), false);
  for (std::size_t i = 0; i < open.size(); ++i) {
    bool doubtful = false, sure = false;
    for (std::size_t j = 0; j < in.candidates.size(); ++j) {
      if (in.candidates[j].leads[i]) {
        (in_doubt[j] ? doubtful : sure) = true;
      }
    }
    open[i] = doubtful && !sure;
  }
  return open;
}

bool leads_any(const Candidate& candidate, const std::vector<bool>& open) {
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (open[i] && candidate.leads[i]) {
      return true;
    }
  }
  return false;
}

/// A stray row must not stop a fit, a good part of the rows must.
void sort_out(const CalibrationCase& in, const Round& round, Choice& choice) {
  std::vector<bool> in_doubt(in.candidates.size(), false);
  for (std::size_t j = 0; j < in.candidates.size(); ++j) {
    in_doubt[j] = !any_names(in.options.hold, in.candidates[j].constant.key) &&
                  (in.candidates[j].moved < least_points || !round.reasons[j].empty()) &&
                  !value_in(round.now, j);
  }
  const std::vector<bool> open = open_points(in, in_doubt);
  const auto count = static_cast<double>(std::count(open.begin(), open.end(), true));
  const bool refuse = count > most_uncovered * static_cast<double>(open.size());
  for (std::size_t j = 0; j < in.candidates.size(); ++j) {
    const Candidate& candidate = in.candidates[j];
    const CalibrationConstant& constant = candidate.constant;
    if (value_in(round.now, j)) {
      continue;
    }
    if (any_names(in.options.hold, constant.key)) {
      choice.held.push_back({constant, candidate.led, "held as asked", ""});
    } else if (in_doubt[j] && (candidate.led > 0 || !round.reasons[j].empty())) {
      std::string reason = candidate.moved < least_points ? too_few(candidate.moved, least_points)
                                                          : round.reasons[j];
      (refuse && leads_any(candidate, open) ? choice.undetermined : choice.held)
          .push_back({constant, candidate.led, std::move(reason), what_to_measure(constant.key)});
    } else if (candidate.led > 0) {
      choice.confirmed.push_back(constant);
    }
  }
}

} // namespace

Choice choose_by_evidence(const CalibrationCase& in) {
  Round round{in, nothing_free(in), {}, std::vector<std::string>(in.candidates.size())};
  for (const Candidate& candidate : in.candidates) {
    round.barred.push_back(any_names(in.options.hold, candidate.constant.key));
  }
  while (advance(round)) {
  }
  Choice choice;
  sort_out(in, round, choice);
  if (choice.undetermined.empty()) {
    choice.free = round.now.free;
    FitProblem problem = problem_from(in, choice.free, round.now);
    problem.tolerance = FitProblem{}.tolerance;
    choice.solution = choice.free.empty() ? nothing_free(in).fit : robust_fit(problem);
  }
  return choice;
}

} // namespace clustersim
