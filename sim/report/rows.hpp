#pragma once
// A layered layout (K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of
// hierarchical system structures", 1981): boxes in rows, wires between rows. A wire that passes a
// row takes a place of its own there, so that none runs over a box.
//
// Places in a row follow the mean of the neighbours in the row before. Of all arrangements that
// keep the order and the distances the one with the least sum of squared shifts is taken (pooling
// of adjacent violators; R. Barlow and others, 1972).

#include <cstddef>
#include <vector>

namespace clustersim {

struct RowItem {
  int row = 0; // 0 at the bottom
  double width = 0;
};
struct RowWire {
  std::size_t a = 0, b = 0; // items
};

struct RowLayout {
  std::vector<double> x;                  // centre of each item
  std::vector<std::vector<double>> bends; // of each wire, at the rows that it passes, from below
  double left = 0, right = 0;             // what items and bends take
};

/// The row `base` stands evenly in the order of its items, or where `fixed` says (by item); the
/// rows above follow it upwards, those below downwards.
[[nodiscard]] RowLayout lay_out_rows(const std::vector<RowItem>& items,
                                     const std::vector<RowWire>& wires, int base, double gap,
                                     const std::vector<double>& fixed = {});

/// Centres of boxes in this order that would stand at `wanted`, none nearer than `gap` to the next.
[[nodiscard]] std::vector<double> spread(const std::vector<double>& wanted,
                                         const std::vector<double>& widths, double gap);

} // namespace clustersim
