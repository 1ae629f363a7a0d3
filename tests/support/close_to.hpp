#pragma once
// Equality to a relative error alone: `CHECK(time == close_to(Seconds{3e-6}))`. doctest::Approx
// adds an absolute tolerance of 1e-5 in SI, in which every microsecond equals every other.
// A value close to zero is zero.

#include "base/quantity.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace clustersim::test {

/// Rounding of some hundred operations.
inline constexpr double rounding = 1e-9;

constexpr double magnitude(double number) {
  return number;
}
template <int B, int T, int W, int E, int M>
constexpr double magnitude(Quantity<B, T, W, E, M> quantity) {
  return quantity.si();
}

template <class T>
struct CloseTo {
  T value;
  double relative;

  friend bool operator==(T actual, const CloseTo& expected) {
    const double a = magnitude(actual), b = magnitude(expected.value);
    return std::fabs(a - b) <= expected.relative * std::max(std::fabs(a), std::fabs(b));
  }
  friend std::ostream& operator<<(std::ostream& out, const CloseTo& expected) {
    return out << magnitude(expected.value) << " (to within " << expected.relative << " of it)";
  }
};

[[nodiscard]] inline CloseTo<double> close_to(double value, double relative = rounding) {
  return {value, relative};
}
template <int B, int T, int W, int E, int M>
[[nodiscard]] CloseTo<Quantity<B, T, W, E, M>> close_to(Quantity<B, T, W, E, M> value,
                                                        double relative = rounding) {
  return {value, relative};
}

} // namespace clustersim::test
