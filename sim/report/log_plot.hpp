#pragma once
// Internal to this folder: curves on two logarithmic axes, drawn with characters.

#include "report/layout.hpp"

#include <functional>
#include <string>
#include <vector>

namespace clustersim {

struct Curve {
  char mark = 'a';
  Ink ink = Ink::plain;
  std::function<double(double)> y; // > 0
};

struct LogPlot {
  std::size_t columns = 60, rows = 16; // of the drawing area
  double x_low = 1, x_high = 10, y_low = 1, y_high = 10;
  std::string x_label, y_label;
  std::vector<Curve> curves; // later ones are drawn below earlier ones
};

/// Frame, decade labels on both axes, curves. Each curve carries its mark where it is alone.
[[nodiscard]] std::vector<std::string> render(const LogPlot& plot, TextStyle style);

} // namespace clustersim
