#pragma once
// Where everything in a drawing of a machine stands: the network on top, below it a frame for each
// sort of node, in it cards, host, PCIe switches, chips and their scale-up links from top to
// bottom; beside them, in a column, what the wires are and carry.

#include "report/svg.hpp"
#include "report/topology_labels.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct PlacedLabel {
  WireLabel label;
  SvgPoint at; // left, middle of the block of two lines
};

struct PlacedWire {
  std::size_t wire = 0;         // in the picture
  std::vector<SvgPoint> points; // from the lower end
  double arc = 0; // of a wire within a row: how far it hangs below (stands above: < 0)
};

struct PlacedFrame {
  SvgBox box;
  SvgPoint title; // left end of its base line
};

/// Chips of a torus that are drawn: one plane, or the corner of a large one.
struct PlacedGrid {
  std::size_t frame = 0;
  SvgPoint first; // centre of the chip at the upper left
  int columns = 1, rows = 1;
};
inline constexpr double grid_step = 44, grid_chip = 22;

struct PicturePlaces {
  double width = 0, height = 0;
  std::vector<SvgBox> boxes; // as in the picture
  std::vector<PlacedWire> wires;
  std::vector<PlacedFrame> frames;
  std::vector<PlacedLabel> labels;
  std::vector<PlacedGrid> grids;
};

/// `links`: names of link classes by number. Everything lies below y = top.
[[nodiscard]] PicturePlaces places_of(const Picture& picture, const std::vector<std::string>& links,
                                      double top);

/// Ends of the wires, once all boxes and bends have their places: straight where a wire comes from
/// above or below, else spread evenly over the side.
void attach_wires(const Picture& picture, PicturePlaces& places);

/// As wide as a text may come out in any font of the style sheet.
[[nodiscard]] double text_width(std::string_view text, double font_size);

/// The frame whose torus the box stands for; nothing for other boxes.
[[nodiscard]] const PictureFrame* torus_of(const Picture& picture, const PictureBox& box);

} // namespace clustersim
