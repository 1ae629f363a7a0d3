#pragma once
// The unit grammar, text ⇄ quantity.
//
//   quantity = number [space] unit            "3.35 TB/s", "80 GiB", "400Gb/s", "700 W", "1.2 us"
//   unit     = [prefix] base ["/" per]
//   prefix   = k M G T P E (1000^n) | Ki Mi Gi Ti (1024^n) | m u n (seconds only)
//   base     = B (byte) | b (bit = 1/8 B) | FLOP | OP | s | W | Wh | J | Hz | USD
//            | min | h | day | year (8,760 h)
//   per      = s | h | year | B | byte | kWh …    (base/unit_table.cpp lists what each dimension
//   accepts)
//
// A bare number where a dimension is needed is an error that names the accepted units. B is not b,
// GB is not GiB. Currencies other than USD are refused with the remedy (convert; we have no rates).

#include "base/quantity.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace clustersim {

/// Why a text is no quantity of the wanted dimension.
struct UnitError {
  std::string message;    // "'5' has no unit"
  std::string expected;   // "a bandwidth such as \"3.35 TB/s\" or \"400 Gb/s\""
  std::string suggestion; // the unit that was meant, or a remedy; empty when there is none
};

/// Reads `text` as a Q. On failure returns nothing and fills `error`. Refuses NaN, infinities and
/// anything that overflows. Q is one of the named quantities of base/quantity.hpp.
template <class Q>
[[nodiscard]] std::optional<Q> parse_quantity(std::string_view text, UnitError& error);

/// Human form with a unit that keeps 1 ≤ number < 1000 where a prefix exists: "3.35 TB/s".
/// `digits` significant digits, trailing zeros kept off.
template <class Q>
[[nodiscard]] std::string format_quantity(Q quantity, int digits = 4);

/// Binary form of a size: "69.1 GiB".
[[nodiscard]] std::string format_binary(Bytes bytes, int digits = 4);

/// "a bandwidth such as …": what an input of dimension Q looks like.
template <class Q>
[[nodiscard]] std::string_view quantity_example();

} // namespace clustersim
