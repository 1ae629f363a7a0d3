#include "engine/max_plus.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

using Two = MaxPlus<2>;

/// Clock 0 works `a`, then clock 1 waits for it and works `b`.
Two relay(double a, double b) {
  Two map;
  map.delay(0, a);
  map.wait_for(1, 0);
  map.delay(1, b);
  return map;
}

} // namespace

TEST_CASE("the identity changes nothing") {
  CHECK(Two{}.finish(1) == 0.0);
  CHECK((Two{} * relay(2, 3)).finish(1) == relay(2, 3).finish(1));
}

TEST_CASE("a relay of two clocks takes the slower one each round, plus one fill") {
  const double a = 2.0;
  const double b = 5.0;
  for (const std::int64_t rounds : {1, 2, 3, 7, 64, 1000}) {
    const auto n = static_cast<double>(rounds);
    CHECK(relay(a, b).power(rounds).finish(1) == close_to(a + n * b));
    CHECK(relay(b, a).power(rounds).finish(1) == close_to(n * b + a));
  }
}

TEST_CASE("a power equals repeated products") {
  const Two once = relay(1.25, 0.5) * relay(0.125, 2.0);
  Two product;
  for (int i = 0; i < 13; ++i) {
    product = once * product;
  }
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      CHECK(once.power(13).at(row, column) == product.at(row, column));
    }
  }
}

TEST_CASE("no repetition is the identity") {
  CHECK(relay(1, 1).power(0).finish(1) == 0.0);
}
