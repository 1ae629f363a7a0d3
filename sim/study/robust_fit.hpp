#pragma once
// Fitting a few bounded constants to many rows, some of them wrong
// (docs/explanation/calibration.md). Both sides are logarithms, so that every residual is a
// relative error and a step is a factor:
//
//   r_i(x) = ln predicted_i(x) - ln measured_i              x_j = ln constant_j
//   minimise  sum_i rho(r_i) + sum_j (trust · (x_j - start_j) / prior)^2 / 2
//   rho(r) = r^2 / 2 if |r| <= trust, else trust · (|r| - trust / 2)         (Huber 1964)
//
// so a row far off pulls as hard as one at `trust`, no harder. What the rows determine is read from
// the Jacobian at the solution; a row left out is predicted by one Newton step from there
// (Pregibon, "Logistic regression diagnostics", Annals of Statistics 9, 1981):
//
//   r_i left out = r_i / (1 - h_i),   h_i = w_i · g_i (G^T W G + P)^-1 g_i,   w_i = rho'(r_i) / r_i
//
// Standard errors are the larger of two: from the variance that all rows share, and from what each
// row left out would move (the jackknife's "HC3", MacKinnon and White, Journal of Econometrics 29,
// 1985), which sees a constant whose own rows scatter more than the others:
//
//   V = s^2 · A,  A = (G^T W G + P)^-1,  s^2 = sum w r^2 / (n - p)
//   V = A · [sum (w r)^2 / (1 - h)^2 · g g^T] · A
//
// NLopt minimises (BOBYQA, then Sbplx for what is not smooth), Eigen does the algebra
// (docs/adr). Same input, same output: nothing is random.

#include <functional>
#include <vector>

namespace clustersim {

struct FitProblem {
  std::vector<double> start, low, high; // of x
  std::function<std::vector<double>(const std::vector<double>&)> residuals;
  double trust = 0.05;
  double tolerance = 1e-6; // of x
  double prior = 0;        // how far x may stray from start, about; 0 = as far as the rows say
};

/// d r_i / d x_j, one vector of rows for each j; by central differences inside the bounds.
using Jacobian = std::vector<std::vector<double>>;
[[nodiscard]] Jacobian jacobian_at(const FitProblem& problem, const std::vector<double>& x);

struct FitSolution {
  std::vector<double> x;
  std::vector<double> residuals, left_out; // by row
  std::vector<double> standard_error;      // of x: about a relative error of the constant
  double condition = 1;                    // of the Jacobian, its columns scaled to length 1
  std::vector<double> weakest; // the direction of x, so scaled, that the rows tell least
};

/// At least one constant and one row.
[[nodiscard]] FitSolution robust_fit(const FitProblem& problem);

} // namespace clustersim
