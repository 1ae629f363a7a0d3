#include "base/range.hpp"

#include <doctest/doctest.h>

using namespace clustersim;

namespace {

using Counts = std::vector<std::int64_t>;

Counts counts(std::string_view text, Suffixes suffixes = Suffixes::none) {
  RangeError error;
  const auto points = parse_count_range(text, suffixes, error);
  REQUIRE_MESSAGE(points, error.message);
  return *points;
}

std::string refused(std::string_view text, std::size_t most = most_range_points) {
  RangeError error;
  CHECK_FALSE(parse_count_range(text, Suffixes::none, error, most));
  CHECK_FALSE(error.expected.empty());
  return error.message;
}

} // namespace

TEST_CASE("a list, a span by one, by factors, by differences, and all of them together") {
  CHECK(counts("7") == Counts{7});
  CHECK(counts("1,2,4") == Counts{1, 2, 4});
  CHECK(counts("3..6") == Counts{3, 4, 5, 6});
  CHECK(counts("128..1024:x2") == Counts{128, 256, 512, 1024});
  CHECK(counts("64..200:+64") == Counts{64, 128, 192}); // the end only when a step lands on it
  CHECK(counts("1, 4..6 ,10..40:x2") == Counts{1, 4, 5, 6, 10, 20, 40});
  CHECK(counts("5..5") == Counts{5});
  CHECK(counts("1_000") == Counts{1000});
  CHECK(counts("1..8:x1.1") == Counts{1, 2, 3, 4, 5, 6, 7, 8}); // never stands still
}

TEST_CASE("k and M are binary where sequence lengths are asked for, and nothing elsewhere") {
  CHECK(counts("1k..4k:x2", Suffixes::binary) == Counts{1024, 2048, 4096});
  CHECK(counts("1M", Suffixes::binary) == Counts{1024 * 1024});
  CHECK(refused("8k") == "'8k' is no whole number from 1 to 1000000000");
}

TEST_CASE("sizes double unless told otherwise") {
  RangeError error;
  const auto doubled = parse_quantity_range<Bytes>("8B..64B", error);
  REQUIRE(doubled);
  CHECK(*doubled == std::vector<Bytes>{Bytes{8}, Bytes{16}, Bytes{32}, Bytes{64}});
  const auto whole = parse_quantity_range<Bytes>("8 B..8 GiB:x2", error);
  REQUIRE(whole);
  CHECK(whole->size() == 31); // 2^3 to 2^33
  CHECK(whole->back() == Bytes{8.0 * 1024 * 1024 * 1024});
  const auto caps = parse_quantity_range<Watts>("300W..700 W:+100 W", error);
  REQUIRE(caps);
  CHECK(caps->size() == 5);
  CHECK_FALSE(parse_quantity_range<Bytes>("8..64", error));
  CHECK(error.message.find("has no unit") != std::string::npos);
  CHECK_FALSE(parse_quantity_range<Watts>("0 W", error));
  CHECK_FALSE(parse_quantity_range<Bytes>("1 W", error));
}

TEST_CASE("what is no range says why") {
  CHECK(refused("8..2") == "'8..2' runs downwards");
  CHECK(refused("1..8:2") == "'2' is no step");
  CHECK(refused("1..8:x1") == "'x1' is no step");
  CHECK(refused("1..8:x-2") == "'x-2' is no step");
  CHECK(refused("1..8:xnan") == "'xnan' is no step");
  CHECK(refused("1..8:+0") == "'0' is no whole number from 1 to 1000000000");
  for (const std::string_view bad : {"", ",", "1,", "0", "-4", "1.5", "abc", "..", "1..", "..4",
                                     "1...4", "1e3", "99999999999999999999"}) {
    CHECK_FALSE(refused(bad).empty());
  }
  CHECK(refused(std::string("1\x1b[31m")).find('\x1b') == std::string::npos);
}

TEST_CASE("no text asks for more points than allowed") {
  CHECK(refused("1..1000000000") == "more than 10000 points");
  CHECK(refused("1..5", 4) == "more than 4 points");
  CHECK(refused("1,2,3,4,5", 4) == "more than 4 points");
  CHECK(refused("1..1000000000:x1.0000000001") == "more than 10000 points");
  RangeError error;
  CHECK_FALSE(parse_quantity_range<Bytes>("1 B..1 EB:x1.0000000000000002", error));
  CHECK(error.message == "more than 10000 points");
}
