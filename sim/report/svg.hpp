#pragma once
// A small writer of SVG pictures that stand alone: no scripts, no references to other files, one
// style sheet that follows the reader's light or dark setting, colours that the colour-blind tell
// apart (after M. Okabe and K. Ito, "Color universal design", 2008). Lengths are CSS pixels, x to
// the right, y down.

#include <string>
#include <string_view>

namespace clustersim {

struct SvgPoint {
  double x = 0, y = 0;
};

struct SvgBox {
  double x = 0, y = 0, width = 0, height = 0;
};

/// Text made safe inside an element or a quoted attribute; control characters shown as \xNN.
[[nodiscard]] std::string xml_text(std::string_view text);
/// A length to a tenth of a pixel: "12", "0.5".
[[nodiscard]] std::string svg_number(double value);

/// Classes of the style sheet: paper, panel, title, label, small, dim, middle, end (anchors);
/// hue0 … hue6 (fill and outline of a kind), wire (a line without load), load0 … load4 (lines by
/// rising share of what they can carry), binding (the line that sets the rate).
inline constexpr int svg_load_steps = 5;

class SvgWriter {
public:
  SvgWriter(double width, double height, std::string_view title, std::string_view description);

  /// What follows until close() is one group; the tooltip shows over all of it.
  void open(std::string_view classes, std::string_view tooltip = {});
  void close();
  void rectangle(const SvgBox& box, double radius, std::string_view classes);
  void line(SvgPoint from, SvgPoint to, double thickness, std::string_view classes);
  void path(std::string_view data, double thickness, std::string_view classes);
  void text(SvgPoint at, std::string_view words, std::string_view classes);
  [[nodiscard]] std::string finish();

private:
  std::string out_;
  int depth_ = 1;
};

} // namespace clustersim
