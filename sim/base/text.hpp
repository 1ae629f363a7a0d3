#pragma once
// Names and nearness of names.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// Canonical id: lower case, '_' and ' ' read as '-'.
[[nodiscard]] std::string canonical_id(std::string_view name);

/// The nearest of `candidates` to `wanted` by edit distance with transpositions
/// (Damerau-Levenshtein, restricted), if it is near enough to be a plausible slip; ties go to the
/// earlier candidate.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view wanted,
                                                      const std::vector<std::string>& candidates);

/// Bytes of the code point that `text` starts with (RFC 3629: shortest form, no surrogates, at most
/// U+10FFFF); 0 where the bytes are no UTF-8.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Whether a byte is the second or a later one of a code point.
[[nodiscard]] constexpr bool continues_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Control characters and invalid UTF-8 as \xNN, so that no input can drive a terminal.
[[nodiscard]] std::string printable(std::string_view text);

[[nodiscard]] std::string trim(std::string_view text);
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// Shortest text that reads back as the same double ("0.1", "1e+22").
[[nodiscard]] std::string shortest(double value);

} // namespace clustersim
