#include "report/log_plot.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t margin = 6;     // of the labels left of the axis
constexpr std::size_t most_marks = 7; // right of the plot, on one row

/// Where a value falls on `cells` cells between two decades, 0 at the low end.
double along(double value, double low, double high, std::size_t cells) {
  return std::log10(value / low) / std::log10(high / low) * static_cast<double>(cells);
}

/// Cells that each hold `across` × `down` dots: a Braille pattern, or one ASCII character.
class Canvas {
public:
  Canvas(const LogPlot& plot, bool braille)
      : across_(braille ? 2 : 1), down_(braille ? 4 : 1), columns_(plot.columns), rows_(plot.rows),
        cells_(plot.columns * plot.rows) {}

  void draw(const LogPlot& plot, const Curve& curve) {
    const std::size_t width = columns_ * across_;
    const double span = std::log10(plot.x_high / plot.x_low);
    const auto height_at = [&](double column) {
      const double exponent = (column + 0.5) / static_cast<double>(width) * span;
      const double y = curve.y(plot.x_low * std::pow(10.0, exponent));
      return along(y, plot.y_low, plot.y_high, rows_ * down_);
    };
    double last = height_at(-1.0);
    for (std::size_t i = 0; i < width; ++i) {
      const double height = height_at(static_cast<double>(i));
      stroke(i, std::min(last + 1.0, height), height, curve, height > last + 1e-9);
      last = height;
    }
  }

  [[nodiscard]] std::string row(std::size_t r, TextStyle style) const {
    std::string out;
    for (std::size_t c = 0; c < columns_; ++c) {
      const Cell& cell = cells_[r * columns_ + c];
      out += paint(cell.ink, glyph(cell), style);
    }
    return out;
  }

private:
  struct Cell {
    unsigned dots = 0;
    char ascii = ' ';
    Ink ink = Ink::plain;
  };

  void stroke(std::size_t column, double from, double to, const Curve& curve, bool rising) {
    const double top = static_cast<double>(rows_ * down_) - 1.0;
    if (to < 0.0) {
      return;
    }
    const auto low = static_cast<std::size_t>(std::clamp(std::floor(from), 0.0, top));
    const auto high = static_cast<std::size_t>(std::clamp(std::floor(to), 0.0, top));
    for (std::size_t dot = low; dot <= high; ++dot) {
      mark(column, dot, curve.ink, rising);
    }
  }

  void mark(std::size_t column, std::size_t height, Ink ink, bool rising) {
    const std::size_t from_top = rows_ * down_ - 1 - height;
    Cell& cell = cells_[from_top / down_ * columns_ + column / across_];
    if (cell.dots == 0) {
      cell.ink = ink;
      cell.ascii = rising ? '/' : '-';
    }
    // Braille dots are numbered 1 2 3 7 down the left and 4 5 6 8 down the right (U+2800 + bits).
    constexpr std::array bits{0x01U, 0x02U, 0x04U, 0x40U, 0x08U, 0x10U, 0x20U, 0x80U};
    cell.dots |= bits[column % across_ * 4 + from_top % down_];
  }

  [[nodiscard]] std::string glyph(const Cell& cell) const {
    if (across_ == 1 || cell.dots == 0) {
      return std::string(1, cell.ascii == ' ' || across_ == 1 ? cell.ascii : ' ');
    }
    const unsigned code = 0x2800U + cell.dots;
    return {static_cast<char>(0xE0U | code >> 12U), static_cast<char>(0x80U | (code >> 6U & 0x3FU)),
            static_cast<char>(0x80U | (code & 0x3FU))};
  }

  std::size_t across_, down_, columns_, rows_;
  std::vector<Cell> cells_;
};

/// 1e12 as "1 T".
std::string decade_name(int exponent) {
  constexpr std::array prefixes{"", "k", "M", "G", "T", "P", "E", "Z"};
  if (exponent < 0) {
    return fmt::format("{:g}", std::pow(10.0, exponent));
  }
  const auto prefix = std::min(static_cast<std::size_t>(exponent) / 3, prefixes.size() - 1);
  const auto digits = static_cast<double>(exponent) - 3.0 * static_cast<double>(prefix);
  const std::string space = prefix == 0 ? "" : " ";
  return fmt::format("{:g}{}{}", std::pow(10.0, digits), space, prefixes[prefix]);
}

std::size_t row_of(const LogPlot& plot, double y) {
  const double height = std::floor(along(y, plot.y_low, plot.y_high, plot.rows) * (1.0 - 1e-12));
  const auto top = static_cast<double>(plot.rows - 1);
  return plot.rows - 1 - static_cast<std::size_t>(std::clamp(height, 0.0, top));
}

std::vector<int> decades(double low, double high) {
  std::vector<int> out;
  constexpr double slack = 1e-9;
  const int last = static_cast<int>(std::floor(std::log10(high) + slack));
  for (int e = static_cast<int>(std::ceil(std::log10(low) - slack)); e <= last; ++e) {
    out.push_back(e);
  }
  return out;
}

std::vector<std::string> x_axis(const LogPlot& plot, TextStyle style) {
  std::string ruler, labels(margin + plot.columns + 8, ' ');
  std::vector<std::string> cells(plot.columns, style.unicode ? "─" : "-");
  for (const int e : decades(plot.x_low, plot.x_high)) {
    const double at = along(std::pow(10.0, e), plot.x_low, plot.x_high, plot.columns);
    const auto column = static_cast<std::size_t>(std::lround(at));
    if (column > 0 && column < cells.size()) {
      cells[column] = style.unicode ? "┬" : "+";
    }
    const std::string name = decade_name(e);
    labels.replace(margin + 1 + column - name.size() / 2, name.size(), name);
  }
  for (const std::string& cell : cells) {
    ruler += cell;
  }
  labels.erase(labels.find_last_not_of(' ') + 1);
  return {paint(Ink::dim, std::string(margin, ' ') + (style.unicode ? "└" : "+") + ruler, style),
          paint(Ink::dim, labels + "  " + plot.x_label, style)};
}

} // namespace

std::vector<std::string> render(const LogPlot& plot, TextStyle style) {
  if (!(plot.x_low > 0.0 && plot.x_high > plot.x_low && plot.y_low > 0.0 &&
        plot.y_high > plot.y_low)) {
    throw Bug("a plot without an area");
  }
  Canvas canvas(plot, style.unicode);
  std::vector<std::string> marks(plot.rows), names(plot.rows);
  for (const Curve& curve : plot.curves) {
    canvas.draw(plot, curve);
    std::string& mark = marks[row_of(plot, curve.y(plot.x_high))];
    if (columns_of(mark) < most_marks) {
      mark += paint(curve.ink, std::string(1, curve.mark), style);
    } else if (mark.back() != '+') {
      mark += '+'; // more of them; the legend has them all
    }
  }
  for (const int e : decades(plot.y_low, plot.y_high)) {
    names[row_of(plot, std::pow(10.0, e))] = decade_name(e);
  }
  std::vector<std::string> lines{paint(Ink::dim, plot.y_label, style)};
  for (std::size_t r = 0; r < plot.rows; ++r) {
    const std::string label = pad_left(names[r], margin - 1) + " " + (style.unicode ? "│" : "|");
    std::string line = paint(Ink::dim, label, style) + canvas.row(r, style);
    line += marks[r].empty() ? "" : " " + marks[r];
    if (!style.colour) {
      line.erase(line.find_last_not_of(' ') + 1);
    }
    lines.push_back(std::move(line));
  }
  for (std::string& line : x_axis(plot, style)) {
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace clustersim
