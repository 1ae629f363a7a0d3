#include "report/layout.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace clustersim;

namespace {

constexpr TextStyle unicode{false, true, Detail::normal};
constexpr TextStyle ascii{false, false, Detail::normal};

/// What the printed parts add up to, in units of the last digit.
long long sum_of(const std::vector<std::string>& parts, int decimals) {
  long long sum = 0;
  for (const std::string& part : parts) {
    sum += std::llround(std::stod(part) * std::pow(10.0, decimals));
  }
  return sum;
}

} // namespace

TEST_CASE("printed parts add up to the printed total") {
  // Three thirds of one: 0.333 + 0.333 + 0.333 would lose a thousandth.
  const auto thirds = apportioned({1.0 / 3, 1.0 / 3, 1.0 / 3}, 1.0, {1.0, 3});
  CHECK(thirds == std::vector<std::string>{"0.334", "0.333", "0.333"});
  // 20 pseudo-random parts by a linear congruence, at several widths.
  for (int decimals = 0; decimals < 5; ++decimals) {
    std::vector<double> parts;
    double total = 0;
    unsigned state = 7;
    for (int i = 0; i < 20; ++i) {
      state = state * 1664525U + 1013904223U;
      parts.push_back(static_cast<double>(state % 100000U) / 7.0);
      total += parts.back();
    }
    const long long wanted = std::llround(total / 10.0 * std::pow(10.0, decimals));
    CHECK(sum_of(apportioned(parts, total, {10.0, decimals}), decimals) == wanted);
  }
}

TEST_CASE("parts beyond what doubles can count are rounded one by one") {
  CHECK(apportioned({1e30, 2e30}, 3e30, {1.0, 2}) == std::vector<std::string>{"1e+30", "2e+30"});
}

TEST_CASE("a bar has the length of its share") {
  CHECK(columns_of(bar(1.0, 10, unicode)) == 10);
  CHECK(bar(0.5, 4, unicode) == "██");
  CHECK(bar(0.5, 4, ascii) == "##");
  CHECK(bar(1.0 / 8 / 4, 4, unicode) == "▏");
  CHECK(bar(0.0, 4, unicode).empty());
  CHECK(columns_of(bar(7.0, 4, unicode)) == 4);
}

TEST_CASE("width counts what is seen: no bytes of UTF-8, no colours") {
  CHECK(columns_of("a×b") == 3);
  CHECK(columns_of(paint(Ink::bold, "a×b", {true, true, Detail::normal})) == 3);
  CHECK(paint(Ink::bold, "a", ascii) == "a");
  CHECK(pad_left("×", 3) == "  ×");
  CHECK(pad_right("abc", 2) == "abc");
}

TEST_CASE("elided text keeps its width and no half of a character") {
  CHECK(elide("abcdef", 6, unicode) == "abcdef");
  CHECK(elide("abcdefg", 6, unicode) == "abcde…");
  CHECK(elide("abcdefg", 6, ascii) == "abc...");
  CHECK(elide("×××××", 3, unicode) == "××…");
  CHECK(elide("ab, cdef", 5, unicode) == "ab…");
}

TEST_CASE("wrapped lines keep to the width unless a word is longer") {
  CHECK(wrap("one two  three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("incomprehensible it is", 5) == std::vector<std::string>{"incomprehensible", "it is"});
  CHECK(wrap("", 5) == std::vector<std::string>{""});
}

TEST_CASE("numbers for people") {
  CHECK(grouped(std::int64_t{1234567}) == "1,234,567");
  CHECK(grouped(std::int64_t{-1234}) == "-1,234");
  CHECK(grouped(std::int64_t{999}) == "999");
  CHECK(grouped(1234.56) == "1,235");
  CHECK(grouped(999.96) == "1,000");
  CHECK(grouped(12.345) == "12.35");
  CHECK(grouped(1e30) == "1e+30");
  CHECK(percent(0.4625) == "46.2 %");
  CHECK(signed_percent(0.05) == "+5.0 %");
  CHECK(counted(1, "node") == "1 node");
  CHECK(counted(2, "node") == "2 nodes");
}

TEST_CASE("tables align, and the last column is free") {
  const std::string text = table({{"id"}, {"size", Align::right}, {"name"}},
                                 {{"a", "1", "x"}, {"bcd", "22", "y z"}}, ascii);
  CHECK(text == "  id   size  name\n"
                "  a       1  x\n"
                "  bcd    22  y z\n");
}
