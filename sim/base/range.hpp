#pragma once
// Ranges as users write them, for options that take many values:
//
//   range   = part { "," part }
//   part    = value | value ".." value [ ":" step ]
//   step    = "x" factor | "+" value            "128..8192:x2"  "300 W..700 W:+50 W"  "1,2,4..8"
//
// Without a step counts go up by one and sizes double. The end belongs to the range when a step
// lands on it. Ranges run upwards, and a range of more points than allowed is an error, so no text
// can ask for unbounded memory.

#include "base/quantity.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct RangeError {
  std::string message;  // "'8..2' runs downwards"
  std::string expected; // "a range such as 128..8192:x2", or empty
};

inline constexpr std::size_t most_range_points = 10'000;

/// Whether "8k" is 8192 and "1M" 1048576: sequence lengths only.
enum class Suffixes { none, binary };

/// Whole numbers from 1 to 10^9.
[[nodiscard]] std::optional<std::vector<std::int64_t>>
parse_count_range(std::string_view text, Suffixes suffixes, RangeError& error,
                  std::size_t most_points = most_range_points);

/// Quantities with their units: Q is Bytes or Watts. Steps by powers of two unless told otherwise.
template <class Q>
[[nodiscard]] std::optional<std::vector<Q>>
parse_quantity_range(std::string_view text, RangeError& error,
                     std::size_t most_points = most_range_points);

} // namespace clustersim
