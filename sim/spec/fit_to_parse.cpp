// A look at the bytes before the parser sees them: a recursive parser is a stack that input can
// fill.

#include "base/text.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>

namespace clustersim {
namespace {

Place place_at(const std::shared_ptr<SourceText>& text, std::size_t offset) {
  std::size_t line = 0;
  std::size_t high = text->line_starts.size();
  while (line + 1 < high) { // the last line that starts at or before the offset
    const std::size_t middle = (line + high) / 2;
    (text->line_starts[middle] <= offset ? line : high) = middle;
  }
  return {text, line + 1, offset - text->line_starts[line] + 1, 1};
}

// Skips a string that opens at `at`; returns the offset after it. Unclosed strings are the parser's
// to report.
std::size_t skip_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool literal = quote == '\'';
  const std::string triple(3, quote);
  if (text.compare(at, 3, triple) == 0) {
    for (std::size_t i = at + 3; i < text.size(); ++i) {
      if (!literal && text[i] == '\\') {
        ++i;
      } else if (text.compare(i, 3, triple) == 0) {
        i += 3;
        while (i < text.size() && text[i] == quote) { // """" ends with a quote inside
          ++i;
        }
        return i;
      }
    }
    return text.size();
  }
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (!literal && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      return i + 1;
    }
  }
  return std::min(text.find('\n', at), text.size());
}

// Offset of the first place that nests too deep, or npos.
std::size_t too_deep_at(std::string_view text) {
  std::size_t brackets = 0;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '[' || c == '{') {
      ++brackets;
      dots = 0;
    } else if (c == ']' || c == '}') {
      brackets -= brackets > 0 ? 1 : 0;
      dots = 0;
    } else if (c == '.') {
      ++dots;
    } else if (c == '=' || c == ',' || c == '\n') {
      dots = 0;
    }
    if (brackets > deepest_nesting || dots > deepest_nesting) {
      return i;
    }
    ++i;
  }
  return std::string_view::npos;
}

} // namespace

bool fit_to_parse(const std::shared_ptr<SourceText>& text, Diagnostics& out) {
  const std::string_view bytes = text->text;
  if (bytes.size() > largest_input) {
    out.add(diagnose({text, 0, 0, 1}, "the file is larger than 4 MiB"));
    return false;
  }
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = utf8_length(bytes.substr(i));
    const auto byte = static_cast<unsigned char>(bytes[i]);
    const bool control =
        (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    if (control || length == 0) { // TOML has no place for either, not even in comments
      out.add(diagnose(place_at(text, i),
                       length == 0 ? "invalid UTF-8"
                       : byte == 0 ? "a NUL byte"
                                   : "a control character",
                       "a text file in UTF-8"));
      return false;
    }
    i += length;
  }
  if (const std::size_t at = too_deep_at(bytes); at != std::string_view::npos) {
    out.add(diagnose(place_at(text, at), "nested too deeply",
                     "at most " + std::to_string(deepest_nesting) + " levels"));
    return false;
  }
  return true;
}

} // namespace clustersim
