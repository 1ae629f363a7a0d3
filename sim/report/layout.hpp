#pragma once
// Plain text on a terminal: columns, bars, colour. Everything that prints text goes through here,
// so that one switch turns colour or Unicode off everywhere.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

enum class Detail { brief, normal, full };

struct TextStyle {
  bool colour = false;
  bool unicode = false;
  Detail detail = Detail::normal;
};

inline constexpr std::size_t page_width = 80;

enum class Ink { plain, bold, dim, good, caution, bad, time, memory };
[[nodiscard]] std::string paint(Ink ink, std::string_view text, TextStyle style);

/// Columns that valid UTF-8 takes, escape sequences not counted.
[[nodiscard]] std::size_t columns_of(std::string_view text);
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);
/// Cut to `width` columns, with a mark where something is missing.
[[nodiscard]] std::string elide(std::string_view text, std::size_t width, TextStyle style);
/// Lines of at most `width` columns, broken at spaces; a longer word gets its own line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);
/// `text` wrapped to the page behind `first`, later lines indented as far.
[[nodiscard]] std::string hanging(std::string_view first, std::string_view text);

/// "data_parallel" as words.
[[nodiscard]] std::string spaced(std::string name);

[[nodiscard]] std::string_view times_sign(TextStyle style); // "×" or "x"
[[nodiscard]] std::string_view plus_minus(TextStyle style); // "±" or "+-"
[[nodiscard]] std::string_view separator(TextStyle style);  // " · " or " | "
/// A horizontal bar of `share` of `width` columns, in eighths of a column where Unicode allows.
[[nodiscard]] std::string bar(double share, std::size_t width, TextStyle style);

[[nodiscard]] std::string grouped(std::int64_t value); // "1,234,567"
[[nodiscard]] std::string grouped(double value); // to the next integer, or 4 digits below 1000
[[nodiscard]] std::string percent(double share); // "46.2 %"
[[nodiscard]] std::string signed_percent(double share);                   // "+5.1 %"
[[nodiscard]] std::string counted(std::int64_t n, std::string_view noun); // "1 node", "2 nodes"

/// Parts at a fixed number of decimals, rounded by largest remainder so that what is printed adds
/// up to the printed `total`. Parts too small to print may be missing from `parts`.
struct FixedPoint {
  double unit = 1.0; // printed number = value / unit
  int decimals = 0;
};
[[nodiscard]] std::vector<std::string> apportioned(const std::vector<double>& parts, double total,
                                                   FixedPoint form);

enum class Align { left, right };
struct Column {
  std::string head;
  Align align = Align::left;
};
/// Rows under their heads, two spaces apart; the last column is neither padded nor cut.
[[nodiscard]] std::string table(const std::vector<Column>& columns,
                                const std::vector<std::vector<std::string>>& rows, TextStyle style,
                                std::string_view indent = "  ");

} // namespace clustersim
