#include "law/roofline.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace clustersim {

using test::close_to;

TEST_CASE("attainable rate is bandwidth times intensity up to the ridge, then the peak") {
  const FlopsPerSecond peak{300e12};
  const BytesPerSecond bandwidth{2e12};
  const FlopsPerByte ridge = ridge_point(peak, bandwidth);
  CHECK(ridge.si() == close_to(300e12 / 2e12));
  CHECK(attainable(ridge, peak, bandwidth).si() == close_to(peak.si()));
  CHECK(attainable(ridge * 0.5, peak, bandwidth).si() == close_to(0.5 * peak.si()));
  CHECK(attainable(ridge * 7.0, peak, bandwidth) == peak);
}

TEST_CASE("joining roofs: exact for one, symmetric, above the longest, below the sum") {
  const Seconds a{3e-6}, b{2e-6};
  CHECK(join_roofs(a, Seconds{}) == a);
  CHECK(join_roofs(Seconds{}, a) == a);
  CHECK(join_roofs(Seconds{}, Seconds{}) == Seconds{});
  CHECK(join_roofs(a, b) == join_roofs(b, a));
  CHECK(join_roofs(a, b) > a);
  CHECK(join_roofs(a, b) < a + b);
  CHECK(join_roofs(a, b).si() ==
        close_to(std::pow(std::pow(3e-6, 6.0) + std::pow(2e-6, 6.0), 1.0 / 6.0)));
  CHECK(join_roofs(a, a).si() == close_to(3e-6 * std::pow(2.0, 1.0 / 6.0)));
  CHECK(join_roofs(a, a, a, a).si() == close_to(3e-6 * std::pow(4.0, 1.0 / 6.0)));
}

TEST_CASE("joining roofs neither under- nor overflows") {
  CHECK(join_roofs(Seconds{1e-200}, Seconds{1e-200}).si() > 1e-200);
  CHECK(std::isfinite(join_roofs(Seconds{1e200}, Seconds{1e200}).si()));
}

TEST_CASE("joining roofs is homogeneous of degree one") {
  const Seconds a{3e-6}, b{2e-6};
  CHECK(join_roofs(a * 8.0, b * 8.0).si() == close_to(8.0 * join_roofs(a, b).si()));
}

} // namespace clustersim
