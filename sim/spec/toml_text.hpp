#pragma once
// TOML text → Tree. The only door to the parser; hostile text is turned away before it.

#include "base/diagnostic.hpp"
#include "spec/text_file.hpp"
#include "spec/tree.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace clustersim {

// The parser and all walks over its result recurse once per level.
inline constexpr std::size_t deepest_nesting = 32;

/// Size, UTF-8, NUL bytes and nesting. False, with one diagnostic, if the parser must not see it.
[[nodiscard]] bool fit_to_parse(const std::shared_ptr<SourceText>& text, Diagnostics& out);

/// One diagnostic on a syntax error or duplicate key. `schema = 1` is not looked at.
[[nodiscard]] std::optional<Tree> parse_toml(const std::shared_ptr<SourceText>& text,
                                             Diagnostics& out);

/// A whole input file: parsed, `schema` checked and removed, [sources] and `source` noted.
[[nodiscard]] std::optional<Tree> parse_input(const std::shared_ptr<SourceText>& text,
                                              Diagnostics& out);

} // namespace clustersim
