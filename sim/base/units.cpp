#include "base/units.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"
#include "base/unit_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <vector>

namespace clustersim {
namespace {

using units::BaseUnit;
using units::Dimension;
using units::Divisor;
using units::Prefix;

// One unit of text in SI: 10^decimal · factor / divisor. The power of ten is kept apart so that
// "3.35 TB/s" is read as the decimal number 3.35e12, rounded once; so is the divisor, for
// "2.99 USD/h" to be 2.99 / 3600.
struct Scale {
  int decimal = 0;
  double factor = 1.0;
  double divisor = 1.0;
};

double to_si(double value, const Scale& scale) {
  return value * scale.factor / scale.divisor;
}

std::optional<Scale> match_base(std::string_view text, const BaseUnit& base) {
  if (!text.ends_with(base.symbol)) return std::nullopt;
  const std::string_view before = text.substr(0, text.size() - base.symbol.size());
  for (const Prefix& prefix : units::prefixes_of(base.prefixes)) {
    if (before == prefix.symbol) return Scale{prefix.decimal, prefix.binary * base.factor, 1.0};
  }
  return std::nullopt;
}

std::optional<Scale> read_unit(std::string_view text, const Dimension& dimension) {
  double divisor = 1.0;
  if (!dimension.divisors.empty()) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    const std::string_view per = text.substr(slash + 1);
    const auto found = std::find_if(dimension.divisors.begin(), dimension.divisors.end(),
                                    [&](const Divisor& d) { return d.symbol == per; });
    if (found == dimension.divisors.end()) return std::nullopt;
    divisor = found->factor;
    text = text.substr(0, slash);
  }
  for (const BaseUnit& base : dimension.bases) {
    if (auto scale = match_base(text, base)) {
      scale->divisor = divisor;
      return scale;
    }
  }
  return std::nullopt;
}

// Both micro signs of Unicode (U+00B5, U+03BC) are read as "u".
std::string normalised_unit(std::string_view text) {
  std::string unit = trim(text);
  for (const std::string_view micro : {"\xC2\xB5", "\xCE\xBC"}) {
    if (unit.starts_with(micro)) unit.replace(0, micro.size(), "u");
  }
  return unit;
}

std::vector<std::string> spellings(const Dimension& dimension) {
  std::vector<std::string> all;
  for (const BaseUnit& base : dimension.bases) {
    for (const Prefix& prefix : units::prefixes_of(base.prefixes)) {
      const std::string unit = fmt::format("{}{}", prefix.symbol, base.symbol);
      if (dimension.divisors.empty()) all.push_back(unit);
      for (const Divisor& per : dimension.divisors)
        all.push_back(unit + "/" + std::string(per.symbol));
    }
  }
  return all;
}

// "gb/s" could be bits or bytes: both are named, and the writer must choose.
std::string suggest_unit(const std::string& unit, const Dimension& dimension) {
  if (unit.ends_with("ps")) { // "Gbps"
    const std::string slashed = unit.substr(0, unit.size() - 2) + "/s";
    if (read_unit(slashed, dimension)) return slashed;
  }
  const std::vector<std::string> all = spellings(dimension);
  std::vector<std::string> alike;
  std::copy_if(all.begin(), all.end(), std::back_inserter(alike), [&](const std::string& spelling) {
    return canonical_id(spelling) == canonical_id(unit);
  });
  if (alike.size() == 1) return alike.front();
  if (alike.size() > 1) {
    return fmt::format("upper and lower case differ: write \"{}\" for bytes or \"{}\" for bits",
                       alike.front(), alike.back());
  }
  if (unit == "$") return "USD";
  return nearest_name(unit, all).value_or("");
}

bool is_foreign_currency(std::string_view unit) {
  const std::string_view money = unit.substr(0, unit.find('/'));
  if (!money.empty() && static_cast<unsigned char>(money.front()) >= 0x80) return true; // a sign
  return money.size() == 3 && money != "USD" &&
         std::all_of(money.begin(), money.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_money(const Dimension& dimension) {
  return dimension.bases.front().symbol == "USD";
}

// What is wrong with a unit that `dimension` does not accept.
UnitError explain_unit(const std::string& unit, const std::string& quoted,
                       const Dimension& wanted) {
  UnitError error{"", std::string(wanted.example), ""};
  const std::string shown = printable(unit.substr(0, 40));
  if (unit.empty()) {
    error.message = fmt::format("{} has no unit", quoted);
  } else if (unit.front() == ',') {
    error.message = fmt::format("{} has a comma in its number", quoted);
    error.suggestion = "write a point before the decimals, and nothing between thousands";
  } else if (is_money(wanted) && is_foreign_currency(unit)) {
    error.message = fmt::format("{} is not in USD", quoted);
    error.suggestion = "convert it to USD: no exchange rates are kept here";
  } else {
    error.message = fmt::format("{} has the unknown unit '{}'", quoted, shown);
    for (const Dimension* other : units::all_dimensions()) {
      if (read_unit(unit, *other)) {
        error.message = fmt::format("{} is {}, not {}", quoted, other->noun, wanted.noun);
      }
    }
    error.suggestion = suggest_unit(unit, wanted);
  }
  return error;
}

// The longest number at the front of `text`: its length, 0 when there is none.
struct Number {
  std::size_t length = 0;
  bool in_range = true;
};

Number read_number(std::string_view text) {
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  if (sign >= text.size()) return {};
  const char first = text[sign]; // keeps "inf" and "nan", which from_chars reads, out
  if (first != '.' && (first < '0' || first > '9')) return {};
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::invalid_argument) return {};
  return {static_cast<std::size_t>(end - text.data()), failure == std::errc{}};
}

// number · 10^decimal, rounded once; nothing when it leaves the range of a double.
std::optional<double> shifted(std::string_view number, int decimal) {
  const std::size_t e = number.find_first_of("eE");
  std::string_view digits = e == std::string_view::npos ? "" : number.substr(e + 1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (read.ec == std::errc::result_out_of_range || std::abs(exponent) > 100'000)
    return std::nullopt;
  const std::string text = fmt::format("{}e{}", number.substr(0, e), exponent + decimal);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{}) return std::nullopt;
  return value;
}

std::optional<double> parse(std::string_view raw, const Dimension& dimension, UnitError& error) {
  const std::string text = trim(raw);
  const std::string quoted =
      fmt::format("'{}{}'", printable(text.substr(0, 40)), text.size() > 40 ? "..." : "");
  const Number number = read_number(text);
  if (number.length == 0) {
    error = {fmt::format("{} does not start with a number", quoted), std::string(dimension.example),
             ""};
    return std::nullopt;
  }
  const std::string unit = normalised_unit(std::string_view(text).substr(number.length));
  const std::optional<Scale> scale = read_unit(unit, dimension);
  if (!scale) {
    error = explain_unit(unit, quoted, dimension);
    return std::nullopt;
  }
  const std::string_view digits = std::string_view(text).substr(0, number.length);
  const auto value = number.in_range ? shifted(digits, scale->decimal) : std::nullopt;
  if (!value || !std::isfinite(to_si(*value, *scale))) {
    error = {fmt::format("{} is too large or too small to be computed with", quoted),
             std::string(dimension.example), ""};
    return std::nullopt;
  }
  return to_si(*value, *scale);
}

// Significant digits of a number and where its decimal point stands: 0.d₁d₂d₃… · 10^point.
struct Decimal {
  bool negative = false;
  std::string digits; // no trailing zeros; empty for zero
  int point = 0;
};

Decimal decimal_of(double value, int digits) {
  std::array<char, 64> buffer{};
  const int after_point = std::clamp(digits, 1, 17) - 1;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                 std::chars_format::scientific, after_point);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  Decimal result{std::signbit(value), "", 0};
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  result.digits.erase(result.digits.find_last_not_of('0') + 1);
  const std::string exponent(text.substr(e + 1));
  result.point = result.digits.empty() ? 0 : std::atoi(exponent.c_str()) + 1;
  return result;
}

// Plain notation: "0.0012", "295", "1.5". Scientific beyond what a reader can count.
std::string spelt(const Decimal& number) {
  constexpr int most_zeros = 15;
  std::string out = number.negative && !number.digits.empty() ? "-" : "";
  const int length = static_cast<int>(number.digits.size());
  if (number.digits.empty()) return "0";
  if (number.point > most_zeros || number.point < -5) {
    out += number.digits.substr(0, 1);
    if (length > 1) out += "." + number.digits.substr(1);
    return out + fmt::format("e{:+03}", number.point - 1);
  }
  if (number.point <= 0) {
    return out + "0." + std::string(static_cast<std::size_t>(-number.point), '0') + number.digits;
  }
  const auto whole = static_cast<std::size_t>(number.point);
  if (number.point >= length) {
    return out + number.digits + std::string(whole - number.digits.size(), '0');
  }
  return out + number.digits.substr(0, whole) + "." + number.digits.substr(whole);
}

std::string format(double si, const Dimension& dimension, int digits) {
  const std::string per =
      dimension.shown_divisor.empty() ? "" : "/" + std::string(dimension.shown_divisor);
  const std::string base = std::string(dimension.shown_base) + per;
  if (!std::isfinite(si)) return fmt::format("{} {}", shortest(si), base);
  const std::optional<Scale> shown = read_unit(base, dimension);
  if (!shown) throw Bug(fmt::format("the unit '{}' of reports is not in its own table", base));
  Decimal number = decimal_of(si * shown->divisor / shown->factor, digits);
  const std::span<const Prefix> prefixes = units::prefixes_of(dimension.shown_prefixes);
  const Prefix* chosen = &prefixes.front();
  for (const Prefix& prefix : prefixes) {
    const bool at_least_one = number.point - prefix.decimal >= 1;
    if (at_least_one || (number.digits.empty() && prefix.symbol.empty())) chosen = &prefix;
  }
  number.point -= chosen->decimal;
  return fmt::format("{} {}{}", spelt(number), chosen->symbol, base);
}

} // namespace

template <class Q>
std::optional<Q> parse_quantity(std::string_view text, UnitError& error) {
  const auto si = parse(text, units::dimension_of<Q>(), error);
  return si ? std::optional<Q>(Q{*si}) : std::nullopt;
}

template <class Q>
std::string format_quantity(Q quantity, int digits) {
  return format(quantity.si(), units::dimension_of<Q>(), digits);
}

template <class Q>
std::string_view quantity_example() {
  return units::dimension_of<Q>().example;
}

std::string format_binary(Bytes bytes, int digits) {
  if (!std::isfinite(bytes.si())) return format_quantity(bytes, digits);
  constexpr std::array<std::string_view, 5> names{"B", "KiB", "MiB", "GiB", "TiB"};
  double scaled = bytes.si();
  std::size_t step = 0;
  // Compared as printed, so that 1023.99 MiB becomes 1 GiB and never "1024 MiB".
  const auto rounded = [&] {
    return std::strtod(spelt(decimal_of(scaled, digits)).c_str(), nullptr);
  };
  while (step + 1 < names.size() && std::abs(rounded()) >= 1024.0) {
    scaled /= 1024.0;
    ++step;
  }
  return fmt::format("{} {}", spelt(decimal_of(scaled, digits)), names[step]);
}

#define CLUSTERSIM_QUANTITY(Q)                                                                     \
  template std::optional<Q> parse_quantity<Q>(std::string_view, UnitError&);                       \
  template std::string format_quantity<Q>(Q, int);                                                 \
  template std::string_view quantity_example<Q>();
CLUSTERSIM_QUANTITY(Bytes)
CLUSTERSIM_QUANTITY(Seconds)
CLUSTERSIM_QUANTITY(Flops)
CLUSTERSIM_QUANTITY(Joules)
CLUSTERSIM_QUANTITY(Dollars)
CLUSTERSIM_QUANTITY(Hertz)
CLUSTERSIM_QUANTITY(BytesPerSecond)
CLUSTERSIM_QUANTITY(FlopsPerSecond)
CLUSTERSIM_QUANTITY(Watts)
CLUSTERSIM_QUANTITY(DollarsPerSecond)
CLUSTERSIM_QUANTITY(DollarsPerJoule)
CLUSTERSIM_QUANTITY(FlopsPerByte)
CLUSTERSIM_QUANTITY(JoulesPerByte)
CLUSTERSIM_QUANTITY(JoulesPerFlop)
#undef CLUSTERSIM_QUANTITY

} // namespace clustersim
