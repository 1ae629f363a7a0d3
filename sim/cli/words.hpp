#pragma once
// Options whose value is one of a few words, or a number.

#include "base/precision.hpp"
#include "cli/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim::cli {

/// `value` if it is one of `known`, the first of them when it is empty. Throws Failure with the
/// nearest word and all of them.
[[nodiscard]] std::string one_of(const std::string& option, const std::string& value,
                                 const std::vector<std::string>& known);

/// From 1 to `most`. Throws Failure.
[[nodiscard]] int whole_number(std::string_view option, const std::string& text, std::int64_t most);

/// --precision; nothing when it was not given. Throws Failure with the nearest format.
[[nodiscard]] std::optional<Precision> precision_option(const Options& options);

} // namespace clustersim::cli
