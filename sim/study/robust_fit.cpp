#include "study/robust_fit.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>

#include <Eigen/Dense>
#include <nlopt.h>

namespace clustersim {
namespace {

constexpr double difference = 0.01;     // of x, for derivatives: beyond the laws' smallest steps
constexpr double first_step = 0.1;      // of x
constexpr int evaluations_each = 60;    // per constant, of each method
constexpr double most_leverage = 0.999; // a row that alone determines a constant

double huber(double r, double trust) {
  const double size = std::fabs(r);
  return size <= trust ? r * r / 2 : trust * (size - trust / 2);
}

double weight(double r, double trust) {
  return std::fabs(r) <= trust ? 1.0 : trust / std::fabs(r);
}

double objective(const FitProblem& problem, const std::vector<double>& x) {
  double sum = 0;
  for (const double r : problem.residuals(x)) {
    sum += huber(r, problem.trust);
  }
  if (problem.prior > 0) {
    for (std::size_t j = 0; j < x.size(); ++j) {
      const double away = problem.trust * (x[j] - problem.start[j]) / problem.prior;
      sum += away * away / 2;
    }
  }
  return sum;
}

/// What NLopt, a C library, is handed: no exception may pass through it.
struct Call {
  const FitProblem* problem;
  nlopt_opt optimizer;
  std::exception_ptr failure;
};

double evaluate(unsigned count, const double* x, double* /*gradient*/, void* data) {
  Call& call = *static_cast<Call*>(data);
  try {
    return objective(*call.problem, {x, x + count});
  } catch (...) {
    call.failure = std::current_exception();
    nlopt_force_stop(call.optimizer);
    return std::numeric_limits<double>::max();
  }
}

void minimise(nlopt_algorithm method, const FitProblem& problem, double step,
              std::vector<double>& x) {
  using Handle = std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)>;
  const Handle optimizer(nlopt_create(method, static_cast<unsigned>(x.size())), &nlopt_destroy);
  if (!optimizer) {
    throw Bug("NLopt cannot start");
  }
  Call call{&problem, optimizer.get(), nullptr};
  nlopt_set_min_objective(optimizer.get(), evaluate, &call);
  nlopt_set_lower_bounds(optimizer.get(), problem.low.data());
  nlopt_set_upper_bounds(optimizer.get(), problem.high.data());
  nlopt_set_initial_step1(optimizer.get(), step);
  nlopt_set_xtol_abs1(optimizer.get(), problem.tolerance);
  nlopt_set_maxeval(optimizer.get(), evaluations_each * static_cast<int>(x.size() + 1));
  std::vector<double> at = x;
  const double before = objective(problem, x);
  double least = 0;
  const nlopt_result result = nlopt_optimize(optimizer.get(), at.data(), &least);
  if (call.failure) {
    std::rethrow_exception(call.failure);
  }
  if ((result > 0 || result == NLOPT_ROUNDOFF_LIMITED) && objective(problem, at) < before) {
    x = std::move(at);
  }
}

/// The best of some steps of one constant, again and again: of two limits that could explain the
/// rows, a descent from the start would follow the one that binds there.
void pursue(const FitProblem& problem, std::vector<double>& x) {
  double least = objective(problem, x);
  for (std::size_t pass = 0; pass < x.size(); ++pass) {
    std::vector<double> best = x;
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (const double step : {-0.3, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.3}) {
        std::vector<double> at = x;
        at[j] = std::clamp(x[j] + step, problem.low[j], problem.high[j]);
        const double value = objective(problem, at);
        if (value < least) {
          least = value;
          best = std::move(at);
        }
      }
    }
    if (best == x) {
      return;
    }
    x = std::move(best);
  }
}

/// Rows of the linearised problem: the data's, weighted, and one for each constant's prior.
Eigen::MatrixXd weighted_rows(const FitProblem& problem, const Jacobian& jacobian,
                              const std::vector<double>& residuals) {
  const auto rows = static_cast<Eigen::Index>(residuals.size());
  const auto constants = static_cast<Eigen::Index>(jacobian.size());
  const bool prior = problem.prior > 0;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(rows + (prior ? constants : 0), constants);
  for (Eigen::Index j = 0; j < constants; ++j) {
    const std::vector<double>& column = jacobian[static_cast<std::size_t>(j)];
    for (Eigen::Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      out(i, j) = column[row] * std::sqrt(weight(residuals[row], problem.trust));
    }
    if (prior) {
      out(rows + j, j) = problem.trust / problem.prior;
    }
  }
  return out;
}

/// Condition and weakest direction of the rows, columns scaled to length 1. A column of zeros,
/// which no row tells anything about, makes the condition infinite.
void note_condition(const Eigen::MatrixXd& rows, FitSolution& solution) {
  const auto constants = static_cast<std::size_t>(rows.cols());
  const Eigen::RowVectorXd lengths = rows.colwise().norm();
  solution.weakest.assign(constants, 0.0);
  Eigen::Index empty = 0;
  if (lengths.minCoeff(&empty) <= 0) {
    solution.condition = std::numeric_limits<double>::infinity();
    solution.weakest[static_cast<std::size_t>(empty)] = 1.0;
    return;
  }
  const Eigen::MatrixXd scaled = rows.array().rowwise() / lengths.array();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled.transpose() * scaled);
  const double least = eigen.eigenvalues()(0);
  const double most = eigen.eigenvalues()(rows.cols() - 1);
  solution.condition =
      least > 0 ? std::sqrt(most / least) : std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < constants; ++j) {
    solution.weakest[j] = eigen.eigenvectors()(static_cast<Eigen::Index>(j), 0);
  }
}

/// What a constant's rows, each left out in turn, would move it by.
Eigen::VectorXd jackknife(const FitProblem& problem, const Eigen::MatrixXd& rows,
                          const Eigen::MatrixXd& inverse, const FitSolution& solution) {
  Eigen::MatrixXd meat = Eigen::MatrixXd::Zero(rows.cols(), rows.cols());
  for (std::size_t i = 0; i < solution.residuals.size(); ++i) {
    const auto row = rows.row(static_cast<Eigen::Index>(i)); // the root of its weight included
    const double pull = weight(solution.residuals[i], problem.trust);
    meat += row.transpose() * row * (pull * solution.left_out[i] * solution.left_out[i]);
  }
  return (inverse * meat * inverse).diagonal();
}

void note_errors(const FitProblem& problem, const Eigen::MatrixXd& rows, FitSolution& solution) {
  const std::size_t count = solution.residuals.size();
  const auto constants = static_cast<std::size_t>(rows.cols());
  const Eigen::MatrixXd inverse =
      (rows.transpose() * rows).completeOrthogonalDecomposition().pseudoInverse();
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double r = solution.residuals[i];
    squares += weight(r, problem.trust) * r * r;
    const auto row = rows.row(static_cast<Eigen::Index>(i));
    const double leverage = std::min(row.dot(row * inverse), most_leverage);
    solution.left_out.push_back(r / (1.0 - leverage));
  }
  const double variance =
      squares /
      static_cast<double>(std::max<std::size_t>(count > constants ? count - constants : 1, 1));
  const Eigen::VectorXd moved = jackknife(problem, rows, inverse, solution);
  for (std::size_t j = 0; j < constants; ++j) {
    const auto index = static_cast<Eigen::Index>(j);
    solution.standard_error.push_back(
        std::sqrt(std::max({0.0, variance * inverse(index, index), moved(index)})));
  }
}

} // namespace

Jacobian jacobian_at(const FitProblem& problem, const std::vector<double>& x) {
  Jacobian out;
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::vector<double> above = x, below = x;
    above[j] = std::min(x[j] + difference, problem.high[j]);
    below[j] = std::max(x[j] - difference, problem.low[j]);
    std::vector<double> column = problem.residuals(above);
    const std::vector<double> other = problem.residuals(below);
    const double width = above[j] - below[j];
    for (std::size_t i = 0; i < column.size(); ++i) {
      column[i] = width > 0 ? (column[i] - other[i]) / width : 0.0;
    }
    out.push_back(std::move(column));
  }
  return out;
}

FitSolution robust_fit(const FitProblem& problem) {
  FitSolution solution;
  solution.x = problem.start;
  if (problem.start.empty() || problem.residuals(problem.start).empty()) {
    throw Bug("a fit of nothing");
  }
  pursue(problem, solution.x);
  minimise(NLOPT_LN_BOBYQA, problem, first_step, solution.x);
  minimise(NLOPT_LN_SBPLX, problem, first_step / 10, solution.x);
  solution.residuals = problem.residuals(solution.x);
  const Jacobian jacobian = jacobian_at(problem, solution.x);
  const Eigen::MatrixXd rows = weighted_rows(problem, jacobian, solution.residuals);
  note_condition(rows, solution);
  note_errors(problem, rows, solution);
  return solution;
}

} // namespace clustersim
