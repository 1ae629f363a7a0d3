#include "base/text.hpp"

#include "base/precision.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <limits>

using namespace clustersim;

TEST_CASE("an id is blind to case, underscores and spaces") {
  CHECK(canonical_id("H100_SXM5 80GB") == "h100-sxm5-80gb");
  CHECK(canonical_id("") == "");
}

TEST_CASE("the nearest name is found within a third of its length") {
  const std::vector<std::string> keys{"tensor", "pipeline", "data", "context", "expert"};
  CHECK(nearest_name("tensr", keys) == "tensor");  // one letter left out
  CHECK(nearest_name("tenosr", keys) == "tensor"); // neighbours swapped: one edit
  CHECK(nearest_name("Pipe_line", keys) == "pipeline");
  CHECK(nearest_name("DATA", keys) == "data");
  CHECK_FALSE(nearest_name("banana", keys).has_value());
  CHECK_FALSE(nearest_name("", keys).has_value());
  CHECK_FALSE(nearest_name(std::string(100000, 'x'), keys).has_value());
  CHECK_FALSE(nearest_name("tensor", {}).has_value());
}

TEST_CASE("a tie between names goes to the earlier one") {
  CHECK(nearest_name("bat", {"cat", "hat"}) == "cat");
  CHECK(nearest_name("bat", {"hat", "cat"}) == "hat");
}

TEST_CASE("no name is so short that everything is near it") {
  CHECK_FALSE(nearest_name("x", {"y", "z"}).has_value());
}

TEST_CASE("what could drive a terminal is shown escaped") {
  CHECK(printable("plain") == "plain");
  CHECK(printable("\x1b[31m") == "\\x1b[31m");
  CHECK(printable("a\tb\n") == "a\\x09b\\x0a");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xC2\x9B") == "\\xc2\\x9b");          // C1 control sequence introducer
  CHECK(printable("\xE2\x80\xAE") == "\\xe2\\x80\\xae"); // right-to-left override
}

TEST_CASE("valid UTF-8 passes, invalid UTF-8 is shown byte by byte") {
  CHECK(printable("\xC2\xB5s \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "\xC2\xB5s \xE2\x82\xAC \xF0\x9F\x98\x80");
  CHECK(printable("\xFF") == "\\xff");
  CHECK(printable("\xC2") == "\\xc2");                            // cut short
  CHECK(printable("\xC0\xAF") == "\\xc0\\xaf");                   // overlong "/"
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");          // a surrogate
  CHECK(printable("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80"); // beyond U+10FFFF
}

TEST_CASE("trim and split") {
  CHECK(trim(" \t a b \r\n") == "a b");
  CHECK(trim("   ") == "");
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(split("", ',') == std::vector<std::string>{""});
}

TEST_CASE("the shortest text of a number reads back as that number") {
  CHECK(shortest(0.1) == "0.1");
  CHECK(shortest(1e22) == "1e+22");
  for (double value = 1e-300; value < 1e300; value *= 733.1) {
    CHECK(std::strtod(shortest(value).c_str(), nullptr) == value);
    CHECK(std::strtod(shortest(-value).c_str(), nullptr) == -value);
  }
  CHECK(shortest(std::numeric_limits<double>::denorm_min()) == "5e-324");
}

TEST_CASE("every precision is known by its name") {
  for (const Precision precision : all_precisions) {
    CHECK(precision_from(name_of(precision)) == precision);
  }
  CHECK(precision_from("BF16") == Precision::bf16);
  CHECK_FALSE(precision_from("bf17").has_value());
}

TEST_CASE("an element takes the bits that its name says") {
  CHECK(bytes_per_element(Precision::fp64) == Bytes{64.0 / 8});
  CHECK(bytes_per_element(Precision::tf32) == Bytes{32.0 / 8}); // stored as FP32
  CHECK(bytes_per_element(Precision::bf16) == Bytes{16.0 / 8});
  CHECK(bytes_per_element(Precision::fp8) == Bytes{8.0 / 8});
  CHECK(bytes_per_element(Precision::int4) == Bytes{4.0 / 8});
}

TEST_CASE("a table by precision tells absent from zero") {
  PrecisionTable<double> table;
  table[Precision::fp8] = 0.0;
  for (const Precision precision : all_precisions) {
    CHECK(table[precision].has_value() == (precision == Precision::fp8));
  }
}
