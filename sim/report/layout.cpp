#include "report/layout.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace clustersim {

std::string paint(Ink ink, std::string_view text, TextStyle style) {
  if (!style.colour || ink == Ink::plain || text.empty()) {
    return std::string{text};
  }
  // Only the sixteen colours that every terminal theme maps to something readable.
  constexpr std::array codes{"0", "1", "2", "32", "33", "1;31", "36", "35"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(ink)], text);
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size());
    } else if (!continues_code_point(text[i])) {
      ++columns;
    }
  }
  return columns;
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = columns_of(text);
  return std::string{text} + std::string(width > used ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = columns_of(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string{text};
}

std::string elide(std::string_view text, std::size_t width, TextStyle style) {
  if (columns_of(text) <= width) {
    return std::string{text};
  }
  const std::string_view mark = style.unicode ? "…" : "...";
  const std::size_t keep = width - std::min(width, columns_of(mark));
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    if (!continues_code_point(text[end]) && columns++ == keep) {
      break;
    }
  }
  std::string kept{text.substr(0, end)};
  while (!kept.empty() && (kept.back() == ' ' || kept.back() == ',')) {
    kept.pop_back();
  }
  return kept + std::string{mark};
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (word.empty()) {
      continue;
    }
    std::string& line = lines.back();
    if (line.empty()) {
      line = word;
    } else if (columns_of(line) + 1 + columns_of(word) <= width) {
      line.append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
  return lines;
}

std::string hanging(std::string_view first, std::string_view text) {
  const std::size_t indent = columns_of(first);
  std::string out{first};
  const auto lines = wrap(text, page_width - std::min(indent, page_width / 2));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    out += (i == 0 ? "" : "\n" + std::string(indent, ' ')) + lines[i];
  }
  return out + "\n";
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string_view times_sign(TextStyle style) {
  return style.unicode ? "×" : "x";
}
std::string_view plus_minus(TextStyle style) {
  return style.unicode ? "±" : "+-";
}

std::string_view separator(TextStyle style) {
  return style.unicode ? " · " : " | ";
}

std::string bar(double share, std::size_t width, TextStyle style) {
  const double length = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  std::string out;
  if (!style.unicode) {
    return std::string(static_cast<std::size_t>(std::lround(length)), '#');
  }
  constexpr std::array eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto cells = static_cast<std::size_t>(std::lround(length * 8.0));
  for (std::size_t i = 0; i < cells / 8; ++i) {
    out += "█";
  }
  return out + eighths[cells % 8];
}

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t start = digits.front() == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > start + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string grouped(double value) {
  const double size = std::fabs(value);
  if (size >= 9e18) {
    return fmt::format("{:.4g}", value);
  }
  if (size >= 999.95) {
    return grouped(static_cast<std::int64_t>(std::llround(value)));
  }
  return fmt::format("{:.4g}", value);
}

std::string percent(double share) {
  return fmt::format("{:.1f} %", share * 100.0);
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", share * 100.0);
}

std::string counted(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

std::vector<std::string> apportioned(const std::vector<double>& parts, double total,
                                     FixedPoint form) {
  const double scale = std::pow(10.0, form.decimals) / form.unit;
  constexpr double most_counts = 9e15; // beyond, doubles skip integers
  if (!(std::fabs(total * scale) < most_counts)) {
    std::vector<std::string> rounded;
    for (const double part : parts) {
      rounded.push_back(fmt::format("{:.3g}", part / form.unit));
    }
    return rounded;
  }
  std::vector<double> fractions;
  std::vector<std::int64_t> counts;
  for (const double part : parts) {
    const double units = part * scale;
    counts.push_back(static_cast<std::int64_t>(std::floor(units)));
    fractions.push_back(units - std::floor(units));
  }
  std::int64_t missing =
      std::llround(total * scale) - std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return fractions[a] > fractions[b]; });
  for (std::size_t i = 0; i < order.size() && missing > 0; ++i, --missing) {
    ++counts[order[i]];
  }
  std::vector<std::string> out;
  for (const std::int64_t count : counts) {
    out.push_back(fmt::format("{:.{}f}", static_cast<double>(count) / std::pow(10.0, form.decimals),
                              form.decimals));
  }
  return out;
}

std::string table(const std::vector<Column>& columns,
                  const std::vector<std::vector<std::string>>& rows, TextStyle style,
                  std::string_view indent) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::size_t width = columns_of(columns[c].head);
    for (const auto& row : rows) {
      width = std::max(width, columns_of(row[c]));
    }
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell, Ink ink) {
    std::string text;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const bool last = c + 1 == columns.size();
      const std::string aligned = columns[c].align == Align::right ? pad_left(cell(c), widths[c])
                                  : last                           ? std::string{cell(c)}
                                                                   : pad_right(cell(c), widths[c]);
      text += (c == 0 ? "" : "  ") + aligned;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return std::string{indent} + paint(ink, text, style) + "\n";
  };
  std::string out =
      line([&](std::size_t c) { return std::string_view{columns[c].head}; }, Ink::dim);
  for (const auto& row : rows) {
    out += line([&](std::size_t c) { return std::string_view{row[c]}; }, Ink::plain);
  }
  return out;
}

} // namespace clustersim
