#pragma once
// Several values as one text: what --sizes and other swept options take.
//
//   a,b,c     a list; each member may be a range
//   a..b      from a to b: counts by 1, sizes doubling
//   a..b:x2   geometric, while not beyond b
//   a..b:+n   arithmetic, n of the same kind as a

#include "base/quantity.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// Why a text is no range.
struct RangeError {
  std::string message;  // "'8B..x' ends with no size"
  std::string expected; // what would have been right
};

/// More values than this are refused: a sweep is read by people or plotted.
inline constexpr std::size_t most_range_values = 10'000;

/// Whole numbers from 0 to 2^53; digits with '_' between them.
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_counts(std::string_view text,
                                                                    RangeError& error);
/// Sizes above 0, each with its unit: "8B..8GiB", "1MiB,64MiB", "1GB..4GB:+1GB".
[[nodiscard]] std::optional<std::vector<Bytes>> parse_sizes(std::string_view text,
                                                            RangeError& error);

} // namespace clustersim
