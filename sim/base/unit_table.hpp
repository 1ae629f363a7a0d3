#pragma once
// What each dimension accepts: the table behind the unit grammar of base/units.hpp.

#include <span>
#include <string_view>

namespace clustersim::units {

/// Which prefixes a base unit takes.
enum class Prefixes { none, large, large_and_binary, small, small_and_large };

/// A prefix is 10^decimal · binary: one of the two is neutral.
struct Prefix {
  std::string_view symbol;
  int decimal = 0;
  double binary = 1.0;
};

struct BaseUnit {
  std::string_view symbol;
  double factor = 1.0; // SI base units in one of it
  Prefixes prefixes = Prefixes::none;
};

struct Divisor {
  std::string_view symbol; // what follows the "/"
  double factor = 1.0;
};

struct Dimension {
  std::string_view noun;    // "a bandwidth"
  std::string_view example; // "a bandwidth such as \"3.35 TB/s\" or \"400 Gb/s\""
  std::span<const BaseUnit> bases;
  std::span<const Divisor> divisors;   // empty: no "/" in the unit
  std::string_view shown_base;         // the base unit that reports use,
  std::string_view shown_divisor = {}; // what it is divided by,
  Prefixes shown_prefixes = Prefixes::none;
};

[[nodiscard]] std::span<const Prefix> prefixes_of(Prefixes set);
[[nodiscard]] std::span<const Dimension* const> all_dimensions();

/// Defined for the named quantities of base/quantity.hpp.
template <class Q>
[[nodiscard]] const Dimension& dimension_of();

} // namespace clustersim::units
