#include "law/roofline.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

double sixth_power(double x) {
  const double square = x * x;
  return square * square * square;
}

} // namespace

FlopsPerSecond attainable(FlopsPerByte intensity, FlopsPerSecond peak, BytesPerSecond bandwidth) {
  return std::min(peak, intensity * bandwidth);
}

FlopsPerByte ridge_point(FlopsPerSecond peak, BytesPerSecond bandwidth) {
  return peak / bandwidth;
}

Seconds join_roofs(Seconds a, Seconds b) {
  return join_roofs(a, b, Seconds{}, Seconds{});
}

Seconds join_roofs(Seconds a, Seconds b, Seconds c, Seconds d) {
  const Seconds longest = std::max({a, b, c, d});
  if (longest.si() <= 0.0) return Seconds{};
  // Scaled by the longest, so that no power under- or overflows and a single roof stays exact.
  const double sum = sixth_power(a / longest) + sixth_power(b / longest) +
                     sixth_power(c / longest) + sixth_power(d / longest);
  return longest * std::sqrt(std::cbrt(sum));
}

} // namespace clustersim
