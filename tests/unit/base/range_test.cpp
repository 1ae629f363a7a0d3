#include "base/range.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {

constexpr double kib = 1024.0, gib = 1024.0 * 1024.0 * 1024.0;

std::vector<double> sizes(const std::string& text) {
  RangeError error;
  const auto found = parse_sizes(text, error);
  INFO(text << ": " << error.message);
  REQUIRE(found.has_value());
  std::vector<double> out;
  for (const Bytes size : *found)
    out.push_back(size.si());
  return out;
}

std::vector<std::int64_t> counts(const std::string& text) {
  RangeError error;
  const auto found = parse_counts(text, error);
  INFO(text << ": " << error.message);
  REQUIRE(found.has_value());
  return *found;
}

} // namespace

TEST_CASE("counts go by one, sizes double, and a step says otherwise") {
  CHECK(counts("3") == std::vector<std::int64_t>{3});
  CHECK(counts("1..4") == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(counts("1..9:x2") == std::vector<std::int64_t>{1, 2, 4, 8});
  CHECK(counts("8..32:+8, 1_000") == std::vector<std::int64_t>{8, 16, 24, 32, 1000});
  CHECK(counts("1..10:x1.5") == std::vector<std::int64_t>{1, 2, 3, 5, 7});
  CHECK(sizes("8B..8GiB").size() == 31); // 2^3 … 2^33
  CHECK(sizes("8B..8GiB").back() == 8 * gib);
  CHECK(sizes("1 KiB .. 4 KiB : x2, 1 GB") == std::vector<double>{kib, 2 * kib, 4 * kib, 1e9});
  CHECK(sizes("0.1GB..0.3GB:+0.1GB").size() == 3);
}

TEST_CASE("what is no range says why, and nothing runs away") {
  for (const std::string text : {"",
                                 ",",
                                 "8",
                                 "8B..",
                                 "..8B",
                                 "8GiB..8B",
                                 "8B..8GiB:x1",
                                 "8B..8GiB:x-2",
                                 "8B..8GiB:x0",
                                 "8B..8GiB:",
                                 "8B..8GiB:+0B",
                                 "8B..8GiB:2",
                                 "8B..8GiB:xnan",
                                 "8B..8GiB:xinf",
                                 "8B..8PB:+1B",
                                 "0B",
                                 "-1B",
                                 "8B..1e400B",
                                 "1B..2B..3B",
                                 "nanB"}) {
    RangeError error;
    INFO(text);
    CHECK_FALSE(parse_sizes(text, error).has_value());
    CHECK_FALSE(error.message.empty());
    CHECK_FALSE(error.expected.empty());
  }
  for (const std::string text : {"", "a", "1..", "-1", "1.5", "_1", "1_", "1..99999999999999999999",
                                 "1..1000000", "5..1", "1..5:x1"}) {
    RangeError error;
    INFO(text);
    CHECK_FALSE(parse_counts(text, error).has_value());
  }
}
