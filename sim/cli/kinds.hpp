#pragma once
// Kinds of catalogue entries as words on the command line.

#include "spec/catalogue.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim::cli {

inline constexpr std::array all_kinds{Kind::chip,   Kind::transformer, Kind::node,
                                      Kind::fabric, Kind::link,        Kind::stack,
                                      Kind::recipe, Kind::optimizer,   Kind::calibration};

[[nodiscard]] std::string plural(Kind kind); // "chips"
/// Singular or plural; "model" is a transformer.
[[nodiscard]] std::optional<Kind> find_kind(std::string_view word);
/// The same; throws Failure with the nearest kind, `others` being words the caller knows besides.
[[nodiscard]] Kind kind_from(std::string_view word, const std::vector<std::string>& others = {});

} // namespace clustersim::cli
