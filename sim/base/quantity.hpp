#pragma once
// Strong quantities: a number with a dimension, stored in SI base units.
//
// Shapes: Quantity<B,T,W,E,M> has the dimension byte^B · second^T · FLOP^W · joule^E · USD^M.
// Products and quotients of quantities get the right dimension by themselves; a dimensionless
// result is a plain double. Adding unlike quantities, or passing a bare double for a quantity,
// does not compile (tests/static).
//
//   Bytes{80e9} / BytesPerSecond{3.35e12}  is  Seconds
//   Flops{1e12} / Bytes{1e9}               is  FlopsPerByte (arithmetic intensity)

#include <compare>

namespace clustersim {

template <int Byte, int Time, int Work, int Energy, int Money>
class Quantity {
public:
  constexpr Quantity() = default;
  explicit constexpr Quantity(double si) : si_(si) {}

  /// The number in SI base units (bytes, seconds, FLOP, joules, US dollars).
  [[nodiscard]] constexpr double si() const { return si_; }

  constexpr Quantity& operator+=(Quantity other) { return si_ += other.si_, *this; }
  constexpr Quantity& operator-=(Quantity other) { return si_ -= other.si_, *this; }
  constexpr Quantity& operator*=(double factor) { return si_ *= factor, *this; }
  constexpr Quantity& operator/=(double divisor) { return si_ /= divisor, *this; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity{a.si_ + b.si_}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity{a.si_ - b.si_}; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity{-a.si_}; }
  friend constexpr Quantity operator*(Quantity a, double f) { return Quantity{a.si_ * f}; }
  friend constexpr Quantity operator*(double f, Quantity a) { return Quantity{f * a.si_}; }
  friend constexpr Quantity operator/(Quantity a, double d) { return Quantity{a.si_ / d}; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

private:
  double si_ = 0.0;
};

namespace detail {
template <int B, int T, int W, int E, int M>
constexpr auto make_quantity(double si) {
  if constexpr (B == 0 && T == 0 && W == 0 && E == 0 && M == 0) {
    return si;
  } else {
    return Quantity<B, T, W, E, M>{si};
  }
}
} // namespace detail

template <int B1, int T1, int W1, int E1, int M1, int B2, int T2, int W2, int E2, int M2>
constexpr auto operator*(Quantity<B1, T1, W1, E1, M1> a, Quantity<B2, T2, W2, E2, M2> b) {
  return detail::make_quantity<B1 + B2, T1 + T2, W1 + W2, E1 + E2, M1 + M2>(a.si() * b.si());
}

template <int B1, int T1, int W1, int E1, int M1, int B2, int T2, int W2, int E2, int M2>
constexpr auto operator/(Quantity<B1, T1, W1, E1, M1> a, Quantity<B2, T2, W2, E2, M2> b) {
  return detail::make_quantity<B1 - B2, T1 - T2, W1 - W2, E1 - E2, M1 - M2>(a.si() / b.si());
}

template <int B, int T, int W, int E, int M>
constexpr auto operator/(double a, Quantity<B, T, W, E, M> b) {
  return detail::make_quantity<-B, -T, -W, -E, -M>(a / b.si());
}

using Bytes = Quantity<1, 0, 0, 0, 0>;
using Seconds = Quantity<0, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>; // work; multiply and add counted separately
using Joules = Quantity<0, 0, 0, 1, 0>;
using Dollars = Quantity<0, 0, 0, 0, 1>;
using Hertz = Quantity<0, -1, 0, 0, 0>;
using BytesPerSecond = Quantity<1, -1, 0, 0, 0>;
using SecondsPerByte = Quantity<-1, 1, 0, 0, 0>;
using FlopsPerSecond = Quantity<0, -1, 1, 0, 0>;
using FlopsPerByte = Quantity<-1, 0, 1, 0, 0>;
using Watts = Quantity<0, -1, 0, 1, 0>;
using JoulesPerByte = Quantity<-1, 0, 0, 1, 0>;
using JoulesPerFlop = Quantity<0, 0, -1, 1, 0>;
using DollarsPerSecond = Quantity<0, -1, 0, 0, 1>;
using DollarsPerJoule = Quantity<0, 0, 0, -1, 1>;

} // namespace clustersim
