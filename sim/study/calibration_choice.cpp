#include "study/calibration_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

constexpr double notable_share = 0.1; // of the weakest direction, squared

/// Points that one of `about` moves and none of `free`.
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

/// Whether a constant may be left as it is: all its points, or nearly all there are, are
/// moved by free constants. A stray row must not stop a fit, a good part of the rows must.
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

/// As `options` and the numbers of points say.
Choice first_choice(const std::vector<Candidate>& candidates, const CalibrateOptions& options) {
  Choice choice;
  std::vector<std::size_t> short_of_points;
  const std::int64_t least = options.prior > 0 ? 1 : least_points;
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
      short_of_points.push_back(j);
    }
  }
  for (const std::size_t which : short_of_points) {
    const Candidate& candidate = candidates[which];
    set_aside(choice, which, too_few(options.fit.empty() ? candidate.led : candidate.moved, least),
              candidates, options);
  }
  return choice;
}

/// Takes out the lightest of the constants that cannot be told apart.
void take_confused(Choice& choice, const CalibrationCase& in) {
  const std::vector<std::size_t> free = choice.free;
  const std::vector<double>& weakest = choice.solution.weakest;
  std::size_t lightest = free.size();
  double least_weight = 0;
  std::string others;
  const auto confused = [&](std::size_t j) { return weakest[j] * weakest[j] >= notable_share; };
  for (std::size_t j = 0; j < free.size(); ++j) {
    const double weight = weight_of(in.candidates[free[j]]);
    if (confused(j) && (lightest == free.size() || weight < least_weight)) {
      lightest = j;
      least_weight = weight;
    }
  }
  for (std::size_t j = 0; j < free.size(); ++j) {
    if (confused(j) && j != lightest) {
      others += (others.empty() ? "" : " and ") + in.candidates[free[j]].constant.key;
    }
  }
  set_aside(choice, free[lightest],
            others.empty() ? "no row tells anything about it"
                           : "the rows cannot tell it from " + others,
            in.candidates, in.options);
}

/// Takes one constant out that the solution shows to be undetermined: held, or a reason to refuse.
/// False when there is none.
bool narrow(Choice& choice, const CalibrationCase& in) {
  const FitSolution& solution = choice.solution;
  if (!(solution.condition <= most_condition)) {
    take_confused(choice, in);
    return true;
  }
  const auto worst =
      std::max_element(solution.standard_error.begin(), solution.standard_error.end());
  if (*worst > most_standard_error && in.options.prior <= 0) {
    const auto j = static_cast<std::size_t>(worst - solution.standard_error.begin());
    set_aside(choice, choice.free[j],
              fmt::format("the rows tell it to within {:.0f} % only", *worst * 100.0),
              in.candidates, in.options);
    return true;
  }
  return false;
}

} // namespace

std::string too_few(std::int64_t points, std::int64_t least) {
  return fmt::format("{} distinct {} about it, {} are needed", points,
                     points == 1 ? "row is" : "rows are", least);
}

Choice choose_asked(const CalibrationCase& in) {
  Choice choice = first_choice(in.candidates, in.options);
  while (choice.undetermined.empty() && !choice.free.empty()) {
    choice.solution =
        robust_fit(problem_of(in.chip, in.rows, in.candidates, choice.free, in.options));
    if (!narrow(choice, in)) {
      break;
    }
  }
  return choice;
}

} // namespace clustersim
