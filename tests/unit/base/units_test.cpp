#include "base/units.hpp"

#include "base/unit_table.hpp"

#include "support/close_to.hpp"
#include <cmath>

#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

template <class Q>
Q read(const std::string& text) {
  UnitError error;
  const auto value = parse_quantity<Q>(text, error);
  REQUIRE_MESSAGE(value.has_value(), text, ": ", error.message);
  return *value;
}

template <class Q>
UnitError refusal(const std::string& text) {
  UnitError error;
  const auto value = parse_quantity<Q>(text, error);
  REQUIRE_MESSAGE(!value.has_value(), text, " was read");
  CHECK(error.expected == quantity_example<Q>());
  return error;
}

// Numbers across the whole range that a quantity may take, with awkward binary fractions.
std::vector<double> awkward_numbers() {
  std::vector<double> numbers{0.0, 1.0, 0.1, 999.9999, 1023.99, 1.0 / 3.0};
  for (int power = -12; power <= 21; ++power) {
    for (const double digit : {1.0, 3.35, 9.994, 9.9996, 7.0 / 9.0}) {
      numbers.push_back(digit * std::pow(10.0, power));
      numbers.push_back(-digit * std::pow(10.0, power));
    }
  }
  return numbers;
}

// Every spelling of every unit of Q's dimension, and that what is written is read back.
template <class Q>
void check_round_trips() {
  const units::Dimension& dimension = units::dimension_of<Q>();
  for (const double number : awkward_numbers()) {
    const Q quantity{number};
    const std::string text = format_quantity(quantity, 17);
    // Only a unit that is no power of ten (USD/h, USD/kWh) rounds on the way.
    const double tolerance = dimension.shown_divisor.ends_with('h') ? 4e-16 : 0.0;
    CHECK_MESSAGE(std::abs(read<Q>(text).si() - number) <= tolerance * std::abs(number), text);
    // Text of few digits is a fixed point: reading and writing it again changes nothing.
    const std::string shortened = format_quantity(quantity, 4);
    CHECK(format_quantity(read<Q>(shortened), 4) == shortened);
  }
}

template <class Q>
void check_every_unit() {
  const units::Dimension& dimension = units::dimension_of<Q>();
  std::vector<units::Divisor> divisors(dimension.divisors.begin(), dimension.divisors.end());
  if (divisors.empty()) divisors.push_back({"", 1.0});
  for (const units::BaseUnit& base : dimension.bases) {
    for (const units::Prefix& prefix : units::prefixes_of(base.prefixes)) {
      for (const units::Divisor& divisor : divisors) {
        const std::string unit = std::string(prefix.symbol) + std::string(base.symbol) +
                                 (divisor.symbol.empty() ? "" : "/") + std::string(divisor.symbol);
        const double si =
            2.5 * std::pow(10.0, prefix.decimal) * prefix.binary * base.factor / divisor.factor;
        for (const std::string& text : {"2.5 " + unit, "2.5" + unit, " 2.5  " + unit + " "}) {
          CHECK(read<Q>(text).si() == close_to(si, 1e-15));
        }
      }
    }
  }
}

// Any text whatever is read or refused with a reason; none of it throws.
template <class Q>
void check_survives(const std::string& text) {
  UnitError error;
  const auto value = parse_quantity<Q>(text, error);
  if (value) {
    CHECK(std::isfinite(value->si()));
  } else {
    CHECK_FALSE(error.message.empty());
    CHECK(error.message.size() < 400);
  }
}

} // namespace

#define FOR_EVERY_QUANTITY(check)                                                                  \
  check(Bytes) check(Seconds) check(Flops) check(Joules) check(Dollars) check(Hertz)               \
      check(BytesPerSecond) check(FlopsPerSecond) check(Watts) check(DollarsPerSecond)             \
          check(DollarsPerJoule) check(FlopsPerByte)

TEST_CASE("every quantity survives writing and reading") {
#define CHECK_ONE(Q) check_round_trips<Q>();
  FOR_EVERY_QUANTITY(CHECK_ONE)
#undef CHECK_ONE
}

TEST_CASE("every unit with every prefix and divisor is read") {
#define CHECK_ONE(Q) check_every_unit<Q>();
  FOR_EVERY_QUANTITY(CHECK_ONE)
#undef CHECK_ONE
}

TEST_CASE("the example of every dimension is itself readable"){
#define CHECK_ONE(Q)                                                                               \
  {                                                                                                \
    const std::string example(quantity_example<Q>());                                              \
    const std::size_t first = example.find('"') + 1;                                               \
    (void)read<Q>(example.substr(first, example.find('"', first) - first));                        \
  }
    FOR_EVERY_QUANTITY(CHECK_ONE)
#undef CHECK_ONE
}

TEST_CASE("no text makes the reader fail") {
  std::vector<std::string> texts{"",
                                 " ",
                                 "-",
                                 ".",
                                 "1e",
                                 "1e+",
                                 "--1 s",
                                 "\xFF\xFE s",
                                 "1 \xC2",
                                 "1 /",
                                 "1 /s",
                                 "1 B/",
                                 "1 B//s",
                                 std::string(100000, '9') + " B",
                                 "1 " + std::string(100000, 'k'),
                                 std::string("1 s\0", 4)};
  const std::string letters = "0159.eE-+ kMGTPEinmuBbsWhzFLOUSD/\xC2\xB5";
  std::uint32_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int length = i % 12; length >= 0; --length) {
      state =
          state * 1664525U + 1013904223U; // Numerical Recipes' generator: the same texts each time
      text += letters[(state >> 8U) % letters.size()];
    }
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    check_survives<BytesPerSecond>(text);
    check_survives<Seconds>(text);
    check_survives<DollarsPerJoule>(text);
  }
}

TEST_CASE("decimal units are read with a single rounding") {
  CHECK(read<BytesPerSecond>("3.35 TB/s") == BytesPerSecond{3.35e12});
  CHECK(read<FlopsPerSecond>("989.4 TFLOP/s") == FlopsPerSecond{989.4e12});
  CHECK(read<FlopsPerSecond>("1978.9 TOP/s") == FlopsPerSecond{1978.9e12});
  CHECK(read<Seconds>("1.2 us") == Seconds{1.2e-6});
  CHECK(read<Seconds>("1.2e3 ns") == Seconds{1.2e-6});
  CHECK(read<DollarsPerSecond>("2.99 USD/h") == DollarsPerSecond{2.99 / 3600});
  CHECK(read<DollarsPerJoule>("0.12 USD/kWh") == DollarsPerJoule{0.12 / 3.6e6});
}

TEST_CASE("bits are not bytes, and binary prefixes are not decimal ones") {
  CHECK(read<BytesPerSecond>("400 Gb/s") == BytesPerSecond{400e9 / 8});
  CHECK(read<Bytes>("80 GiB") == Bytes{80.0 * 1024 * 1024 * 1024});
  CHECK(read<Bytes>("80 GB") == Bytes{80e9});
}

TEST_CASE("both micro signs of Unicode are read") {
  CHECK(read<Seconds>("1.2 \xC2\xB5s") == Seconds{1.2e-6});
  CHECK(read<Seconds>("1.2 \xCE\xBCs") == Seconds{1.2e-6});
}

TEST_CASE("a case that would change the meaning is refused with the choice") {
  CHECK(refusal<BytesPerSecond>("5 gb/s").suggestion ==
        "upper and lower case differ: write \"GB/s\" for bytes or \"Gb/s\" for bits");
  CHECK(refusal<BytesPerSecond>("5 tb/s").suggestion ==
        "upper and lower case differ: write \"TB/s\" for bytes or \"Tb/s\" for bits");
  CHECK(refusal<Hertz>("1830 mhz").suggestion == "MHz");
  CHECK(refusal<Watts>("500 w").suggestion == "W");
}

TEST_CASE("common slips are recognised") {
  CHECK(refusal<BytesPerSecond>("400 Gbps").suggestion == "Gb/s");
  CHECK(refusal<FlopsPerSecond>("989 TFLOPS").suggestion == "TFLOP/s");
  CHECK(refusal<Dollars>("5 $").suggestion == "USD");
  CHECK(refusal<Bytes>("3,35 GB").message == "'3,35 GB' has a comma in its number");
}

TEST_CASE("a bare number, another dimension and another currency are told apart") {
  CHECK(refusal<BytesPerSecond>("5").message == "'5' has no unit");
  CHECK(refusal<BytesPerSecond>("80 GB").message == "'80 GB' is a size, not a bandwidth");
  CHECK(refusal<Watts>("2 kWh").message == "'2 kWh' is an energy, not a power");
  CHECK(refusal<Dollars>("5 EUR").message == "'5 EUR' is not in USD");
  CHECK(refusal<DollarsPerJoule>("0.3 EUR/kWh").message == "'0.3 EUR/kWh' is not in USD");
  CHECK(refusal<Dollars>("5 \xE2\x82\xAC").suggestion ==
        "convert it to USD: no exchange rates are kept here");
}

TEST_CASE("what is no finite number is refused") {
  for (const char* text :
       {"nan s", "inf s", "-inf s", "infinity s", "NaN s", "0x10 s", "+5 s", "s", ""}) {
    (void)refusal<Seconds>(text);
  }
  for (const char* text : {"1e400 s", "-1e400 s", "1e-400 s", "1e308 year", "1e99999999999 s"}) {
    CHECK(refusal<Seconds>(text).message ==
          "'" + std::string(text) + "' is too large or too small to be computed with");
  }
}

TEST_CASE("a negative number is read: ranges are the caller's") {
  CHECK(read<Seconds>("-3 ms") == Seconds{-3e-3});
}

TEST_CASE("numbers are shown between 1 and 1000 after rounding") {
  CHECK(format_quantity(BytesPerSecond{3.35e12}) == "3.35 TB/s");
  CHECK(format_quantity(BytesPerSecond{999.96e9}) == "1 TB/s"); // 4 digits: 1000 GB/s
  CHECK(format_quantity(Seconds{8.4e-6}) == "8.4 us");
  CHECK(format_quantity(Seconds{86400}) == "86400 s");
  CHECK(format_quantity(Seconds{0}) == "0 s");
  CHECK(format_quantity(Watts{-700}) == "-700 W");
  CHECK(format_quantity(DollarsPerSecond{2.99 / 3600}) == "2.99 USD/h");
  CHECK(format_quantity(FlopsPerByte{989.4 / 3.35}, 3) == "295 FLOP/B");
  CHECK(format_quantity(Seconds{std::numeric_limits<double>::infinity()}) == "inf s");
}

TEST_CASE("binary sizes never show 1024 of a unit") {
  constexpr double mebi = 1024.0 * 1024.0;
  CHECK(format_binary(Bytes{79.65 * 1024 * mebi}) == "79.65 GiB");
  CHECK(format_binary(Bytes{1023.99 * mebi}) == "1 GiB");
  CHECK(format_binary(Bytes{1023.0 * mebi}) == "1023 MiB");
  CHECK(format_binary(Bytes{512}) == "512 B");
  CHECK(format_binary(Bytes{0}) == "0 B");
  CHECK(format_binary(Bytes{-2.0 * mebi}) == "-2 MiB");
}
