#include "base/bug.hpp"
#include "report/csv_writer.hpp"
#include "report/figures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace clustersim;

namespace {

double sum(const std::vector<BreakdownItem>& items) {
  return std::accumulate(items.begin(), items.end(), 0.0,
                         [](double total, const BreakdownItem& i) { return total + i.time.si(); });
}

} // namespace

TEST_CASE("a closed breakdown sums to the step exactly, in any order") {
  unsigned state = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<BreakdownItem> items;
    double total = 0;
    for (int i = 0; i < 9; ++i) {
      state = state * 1664525U + 1013904223U;
      items.push_back({"part", Seconds{static_cast<double>(state) * 1.1e-10 / (i + 1)}});
      total += items.back().time.si();
    }
    auto closed = close_breakdown(items, Seconds{total});
    CHECK(sum(closed) == total);
    std::reverse(closed.begin(), closed.end());
    CHECK(sum(closed) == total);
    std::rotate(closed.begin(), closed.begin() + 4, closed.end());
    CHECK(sum(closed) == total);
    for (std::size_t i = 0; i < items.size(); ++i) {
      // Each is rounded to the spacing of doubles at the step; the largest takes what is left open.
      const Seconds moved =
          closed[(items.size() * 2 - 1 - i - 4) % items.size()].time - items[i].time;
      CHECK(std::fabs(moved.si()) <= 10 * std::numeric_limits<double>::epsilon() * total);
    }
  }
}

TEST_CASE("rounding below zero is closed, a real gap is a bug") {
  const auto closed = close_breakdown({{"a", Seconds{1.0}}, {"b", Seconds{-1e-17}}}, Seconds{1.0});
  CHECK(closed[1].time == Seconds{0.0});
  CHECK_THROWS_AS(close_breakdown({{"a", Seconds{0.9}}}, Seconds{1.0}), Bug);
  CHECK_THROWS_AS(close_breakdown({{"a", Seconds{1.1}}, {"b", Seconds{-0.1}}}, Seconds{1.0}), Bug);
  CHECK_THROWS_AS(close_breakdown({}, Seconds{1.0}), Bug);
}

TEST_CASE("CSV quotes what needs it") {
  CHECK(csv_line({"a", "b,c", "say \"x\"", "", "two\nlines"}) ==
        "a,\"b,c\",\"say \"\"x\"\"\",,\"two\nlines\"\n");
}
