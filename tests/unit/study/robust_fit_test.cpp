// The fit itself, on problems whose answers are known.

#include "study/robust_fit.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

using Rows = std::vector<std::vector<double>>; // g_i of every row

/// residual_i = g_i · x - y_i
FitProblem linear(const Rows& rows, const std::vector<double>& y) {
  FitProblem problem;
  const std::size_t constants = rows.front().size();
  problem.start.assign(constants, 0.0);
  problem.low.assign(constants, -3.0);
  problem.high.assign(constants, 3.0);
  problem.residuals = [rows, y](const std::vector<double>& x) {
    std::vector<double> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double sum = -y[i];
      for (std::size_t j = 0; j < x.size(); ++j) {
        sum += rows[i][j] * x[j];
      }
      out.push_back(sum);
    }
    return out;
  };
  return problem;
}

const Rows two_columns{{1, 0}, {0.9, 0.1}, {0.7, 0.3}, {0.5, 0.5}, {0.2, 0.8}, {0, 1}};

std::vector<double> exact(const Rows& rows, const std::vector<double>& x) {
  const std::vector<double> zeros(rows.size(), 0.0);
  return linear(rows, zeros).residuals(x);
}

} // namespace

TEST_CASE("what the rows determine is found") {
  const std::vector<double> truth{0.4, -0.7};
  const FitSolution found = robust_fit(linear(two_columns, exact(two_columns, truth)));
  for (std::size_t j = 0; j < truth.size(); ++j) {
    CHECK(found.x[j] == close_to(truth[j], 1e-4));
    CHECK(found.standard_error[j] < 1e-4);
  }
  CHECK(found.condition < 5);
}

TEST_CASE("one constant") {
  const Rows rows{{1}, {1}, {1}};
  const FitSolution found = robust_fit(linear(rows, {0.01, 0.02, 0.03}));
  CHECK(found.x[0] == close_to(0.02, 1e-4)); // within trust: the mean
  CHECK(found.condition == close_to(1));
  // Residuals -0.01, 0 and 0.01, left out 3/2 of that; of a mean of three. The pooled one is
  // 0.01 / sqrt(3), which is less.
  CHECK(found.standard_error[0] == close_to(std::sqrt(2.0 * 0.015 * 0.015) / 3.0, 1e-3));
}

TEST_CASE("a row far off pulls no harder than one at trust") {
  const std::vector<double> truth{0.4, -0.7};
  std::vector<double> y = exact(two_columns, truth);
  y[2] += 2.0;
  const FitSolution found = robust_fit(linear(two_columns, y));
  for (std::size_t j = 0; j < truth.size(); ++j) {
    CHECK(std::fabs(found.x[j] - truth[j]) < 0.05); // least squares: off by 0.5 and more
  }
  y[2] += 2.0;
  const FitSolution farther = robust_fit(linear(two_columns, y));
  CHECK(farther.x[0] == close_to(found.x[0], 1e-3));
  CHECK(farther.x[1] == close_to(found.x[1], 1e-3));
}

TEST_CASE("a row left out is predicted by a fit to the others") {
  std::vector<double> y = exact(two_columns, {0.4, -0.7});
  const std::vector<double> noise{0.011, -0.017, 0.006, 0.012, -0.009, 0.004};
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] += noise[i];
  }
  const FitSolution all = robust_fit(linear(two_columns, y));
  for (std::size_t i = 0; i < y.size(); ++i) {
    CAPTURE(i);
    Rows others = two_columns;
    std::vector<double> rest = y;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const FitSolution without = robust_fit(linear(others, rest));
    const double left_out = linear(two_columns, y).residuals(without.x)[i];
    CHECK(all.left_out[i] == close_to(left_out, 0.01));
    CHECK(std::fabs(all.left_out[i]) > std::fabs(all.residuals[i]));
  }
}

TEST_CASE("what the rows do not determine shows") {
  SUBCASE("two constants alike") {
    const Rows rows{{1, 1}, {0.8, 0.8}, {0.5, 0.50001}};
    const FitSolution found = robust_fit(linear(rows, {0.1, 0.1, 0.1}));
    CHECK(found.condition > 1e3);
    CHECK(found.weakest[0] * found.weakest[0] == close_to(0.5, 0.01));
  }
  SUBCASE("a constant that no row moves") {
    const Rows rows{{1, 0}, {0.8, 0}, {0.5, 0}};
    const FitSolution found = robust_fit(linear(rows, {0.1, 0.1, 0.1}));
    CHECK(found.condition == std::numeric_limits<double>::infinity());
    CHECK(found.weakest[1] == 1.0);
  }
}

TEST_CASE("a prior holds a constant to its start") {
  const Rows rows{{1}};
  FitProblem problem = linear(rows, {0.04});
  problem.prior = problem.trust; // as much trust in the start as in the one row
  CHECK(robust_fit(problem).x[0] == close_to(0.02, 1e-3));
  problem.prior = problem.trust / 100;
  CHECK(std::fabs(robust_fit(problem).x[0]) < 1e-4);
}

TEST_CASE("bounds are kept") {
  FitProblem problem = linear({{1}, {1}}, {2.0, 2.0});
  problem.high = {0.5};
  CHECK(robust_fit(problem).x[0] == close_to(0.5));
}

TEST_CASE("the same twice") {
  const FitProblem problem = linear(two_columns, {0.1, 0.3, -0.2, 0.2, 0.5, -0.6});
  CHECK(robust_fit(problem).x == robust_fit(problem).x);
}
