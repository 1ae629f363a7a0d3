#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace clustersim {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// Restricted Damerau-Levenshtein distance: insert, delete, replace, swap of neighbours, each once
// per position. Three rows of the usual table suffice.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0; // 0: the bytes are no UTF-8
};

// Decodes the code point at the front of `text` (RFC 3629: shortest form, no surrogates).
CodePoint decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  std::uint32_t value = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues_code_point(text[i])) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const bool overlong = (length == 3 && value < 0x800) || (length == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (overlong || surrogate || value > 0x10FFFF) return {};
  return {value, length};
}

// C0, DEL and C1 controls drive terminals; line separators and bidirectional marks reorder what is
// read.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x200E || c == 0x200F || c == 0x61C ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

void append_escaped(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += digits[byte >> 4U];
    out += digits[byte & 0xFU];
  }
}

} // namespace

std::string canonical_id(std::string_view name) {
  std::string id;
  id.reserve(name.size());
  for (const char c : name)
    id += c == '_' || c == ' ' ? '-' : lower(c);
  return id;
}

std::optional<std::string> nearest_name(std::string_view wanted,
                                        const std::vector<std::string>& candidates) {
  constexpr std::size_t longest =
      64; // longer texts are no slips of a name, and cost quadratic time
  const std::string slip = canonical_id(wanted);
  if (slip.empty() || slip.size() > longest) return std::nullopt;
  std::size_t best = std::max<std::size_t>(1, slip.size() / 3) + 1;
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t difference =
        std::max(candidate.size(), slip.size()) - std::min(candidate.size(), slip.size());
    if (difference >= best) continue;
    const std::size_t distance = edit_distance(slip, canonical_id(candidate));
    if (distance < best && distance < std::max(candidate.size(), slip.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::size_t utf8_length(std::string_view text) {
  return text.empty() ? 0 : decode_utf8(text).length;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t taken = std::max<std::size_t>(1, point.length);
    if (point.length == 0 || is_control(point.value)) {
      append_escaped(out, text.substr(0, taken));
    } else {
      out += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return out;
}

std::string trim(std::string_view text) {
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return std::string(text);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end = text.find(separator); end != std::string_view::npos;
       end = text.find(separator)) {
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

} // namespace clustersim
