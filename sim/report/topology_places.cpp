#include "report/topology_places.hpp"

#include "report/layout.hpp"
#include "report/rows.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace clustersim {
namespace {

constexpr double box_width = 90, box_height = 34, host_width = 112, gap = 16, margin = 16;
constexpr double label_height = 34, least_gap = 44, arc_step = 12, column_gap = 20;
constexpr int most_grid = 8;

/// From the scale-up links at the bottom to the cards.
int row_in_node(VertexKind kind) {
  switch (kind) {
  case VertexKind::scale_up_switch:
    return 0;
  case VertexKind::chip:
    return 1;
  case VertexKind::pcie_switch:
    return 2;
  case VertexKind::root_complex:
    return 3;
  case VertexKind::host_memory:
    return 4;
  case VertexKind::nic:
  case VertexKind::leaf:
  case VertexKind::spine:
    break;
  }
  return 5;
}

int drawn(const PictureFrame& frame, std::size_t axis) {
  return axis < frame.torus.size() ? std::min(most_grid, frame.torus[axis].axis.extent) : 1;
}

/// A frame, or the network with the cards that plug into it: rows without holes.
struct Part {
  std::vector<std::size_t> boxes, wires;
  std::vector<int> row; // by place in boxes
  int rows = 0;
  RowLayout layout;
  std::vector<double> heights;                // by row
  std::vector<double> gaps;                   // [r] below row r, the last above all
  std::vector<std::vector<WireLabel>> labels; // as gaps
  std::vector<WireLabel> axes;                // of a torus
  double label_width = 0;
  [[nodiscard]] std::size_t place(std::size_t box) const {
    return static_cast<std::size_t>(std::find(boxes.begin(), boxes.end(), box) - boxes.begin());
  }
  [[nodiscard]] double height() const {
    double all = 0;
    for (const double h : heights)
      all += h;
    for (const double g : gaps)
      all += g;
    return all;
  }
};

class Placer {
public:
  Placer(const Picture& picture, const std::vector<std::string>& links)
      : picture_(picture), links_(links) {
    out_.boxes.resize(picture.boxes.size());
    out_.frames.resize(picture.frames.size());
  }
  PicturePlaces run(double top);

private:
  [[nodiscard]] Part frame_part(std::size_t frame) const;
  [[nodiscard]] Part network_part() const;
  void number_rows(Part& part, const std::vector<int>& level) const;
  [[nodiscard]] double width_of(std::size_t box) const;
  [[nodiscard]] double height_of(std::size_t box) const;
  [[nodiscard]] std::size_t chips_at(std::size_t box) const;
  [[nodiscard]] double arc_of(const Part& part, const PictureWire& wire) const;
  void lay_out(Part& part, int base, const std::vector<double>& fixed) const;
  void measure(Part& part) const;
  /// Boxes, bends and labels of a part whose topmost row ends at y; labels at x.
  void place(const Part& part, double dx, double y, double label_x, bool cards);
  double place_frames(std::vector<Part>& parts, double y);
  void thread(const Part& part, double dx, const std::vector<double>& middle);
  void put_labels(const std::vector<WireLabel>& labels, double x, double middle);

  const Picture& picture_;
  const std::vector<std::string>& links_;
  PicturePlaces out_;
};

Part Placer::frame_part(std::size_t frame) const {
  Part part;
  std::vector<int> level;
  for (std::size_t b = 0; b < picture_.boxes.size(); ++b) {
    if (picture_.boxes[b].frame != frame) continue;
    part.boxes.push_back(b);
    level.push_back(row_in_node(picture_.boxes[b].kind));
  }
  for (std::size_t w = 0; w < picture_.wires.size(); ++w) {
    const PictureWire& wire = picture_.wires[w];
    if (picture_.boxes[wire.a].frame == frame && picture_.boxes[wire.b].frame == frame)
      part.wires.push_back(w);
  }
  number_rows(part, level);
  part.axes = labels_of(picture_.frames[frame], links_);
  return part;
}

/// Cards are its lowest row; they keep the places that they have in their frames.
Part Placer::network_part() const {
  Part part;
  std::set<std::size_t> boxes;
  for (std::size_t w = 0; w < picture_.wires.size(); ++w) {
    const PictureWire& wire = picture_.wires[w];
    if (picture_.boxes[wire.a].frame &&
        picture_.boxes[wire.a].frame == picture_.boxes[wire.b].frame)
      continue;
    part.wires.push_back(w);
    boxes.insert({wire.a, wire.b});
  }
  part.boxes.assign(boxes.begin(), boxes.end());
  std::vector<int> level;
  for (const std::size_t b : part.boxes)
    level.push_back(picture_.boxes[b].frame ? 0 : picture_.boxes[b].level);
  number_rows(part, level);
  return part;
}

void Placer::number_rows(Part& part, const std::vector<int>& level) const {
  const std::set<int> used(level.begin(), level.end());
  for (const int one : level)
    part.row.push_back(static_cast<int>(std::distance(used.begin(), used.find(one))));
  part.rows = static_cast<int>(used.size());
}

std::size_t Placer::chips_at(std::size_t box) const {
  std::set<std::size_t> chips;
  for (const PictureWire& wire : picture_.wires) {
    if (wire.a != box && wire.b != box) continue;
    const std::size_t other = wire.a == box ? wire.b : wire.a;
    if (picture_.boxes[other].kind == VertexKind::chip) chips.insert(other);
  }
  return chips.size();
}

double Placer::width_of(std::size_t b) const {
  const PictureBox& box = picture_.boxes[b];
  if (const PictureFrame* frame = torus_of(picture_, box))
    return std::max(160.0, (drawn(*frame, 0) + 1.0) * grid_step);
  if (box.kind == VertexKind::root_complex || box.kind == VertexKind::host_memory)
    return host_width;
  const double least = std::max(box_width, text_width(box.title, 10.5) + 14);
  const auto sisters =
      std::count_if(picture_.boxes.begin(), picture_.boxes.end(), [&](const PictureBox& o) {
        return o.kind == box.kind && o.frame == box.frame;
      });
  const bool bar = box.kind == VertexKind::pcie_switch ||
                   (box.kind == VertexKind::scale_up_switch && sisters == 1);
  const auto below = static_cast<double>(chips_at(b));
  return bar ? std::max(least, below * (box_width + gap) - gap) : least;
}

double Placer::height_of(std::size_t b) const {
  const PictureFrame* frame = torus_of(picture_, picture_.boxes[b]);
  if (frame == nullptr) return box_height;
  const double labels = 3.0 * label_height; // of the axes, beside it
  return std::max(labels, (drawn(*frame, 1) + 1.0) * grid_step + 16);
}

double Placer::arc_of(const Part& part, const PictureWire& wire) const {
  const std::size_t a = part.place(wire.a), b = part.place(wire.b);
  if (part.row[a] != part.row[b]) return 0;
  const double over = std::abs(part.layout.x[a] - part.layout.x[b]) / (box_width + gap);
  const bool chips = picture_.boxes[wire.a].kind == VertexKind::chip;
  if (!chips && wire.a != wire.b && over < 2.5) return 0; // straight from side to side
  return (chips ? 1 : -1) * arc_step * (1.2 + over);
}

void Placer::lay_out(Part& part, int base, const std::vector<double>& fixed) const {
  std::vector<RowItem> items;
  std::vector<RowWire> wires;
  for (std::size_t i = 0; i < part.boxes.size(); ++i)
    items.push_back({part.row[i], width_of(part.boxes[i])});
  for (const std::size_t w : part.wires)
    wires.push_back({part.place(picture_.wires[w].a), part.place(picture_.wires[w].b)});
  part.layout = lay_out_rows(items, wires, base, gap, fixed);
  measure(part);
}

/// Heights of rows and of the gaps between them.
void Placer::measure(Part& part) const {
  const auto rows = static_cast<std::size_t>(part.rows);
  part.heights.assign(rows, 0.0);
  for (std::size_t i = 0; i < part.boxes.size(); ++i) {
    double& height = part.heights[static_cast<std::size_t>(part.row[i])];
    height = std::max(height, height_of(part.boxes[i]));
  }
  part.gaps.assign(rows + 1, 0.0);
  for (std::size_t g = 1; g < rows; ++g)
    part.gaps[g] = least_gap;
  std::vector<std::vector<std::size_t>> wires(rows + 1);
  for (const std::size_t w : part.wires) {
    const PictureWire& wire = picture_.wires[w];
    const auto a = static_cast<std::size_t>(part.row[part.place(wire.a)]);
    const auto b = static_cast<std::size_t>(part.row[part.place(wire.b)]);
    const double arc = arc_of(part, wire);
    const std::size_t at = arc > 0 ? a : std::min(a, b) + 1;
    wires[at].push_back(w);
    part.gaps[at] = std::max(part.gaps[at], std::abs(arc) + 8);
  }
  part.label_width = 0;
  part.labels.clear();
  for (std::size_t g = 0; g <= rows; ++g) {
    part.labels.push_back(labels_of(picture_, wires[g], links_));
    const auto count = static_cast<double>(part.labels[g].size());
    part.gaps[g] = std::max(part.gaps[g], count * label_height + (count > 0 ? 8 : 0));
    for (const WireLabel& label : part.labels[g])
      part.label_width = std::max(
          {part.label_width, text_width(label.link, 10.5) + 24, text_width(label.text, 10.5) + 24});
  }
  for (const WireLabel& label : part.axes)
    part.label_width = std::max(
        {part.label_width, text_width(label.link, 10.5) + 24, text_width(label.text, 10.5) + 24});
}

void Placer::put_labels(const std::vector<WireLabel>& labels, double x, double middle) {
  double y = middle - label_height * (static_cast<double>(labels.size()) - 1) / 2;
  for (const WireLabel& label : labels) {
    out_.labels.push_back({label, {x, y}});
    y += label_height;
  }
}

void Placer::place(const Part& part, double dx, double y, double label_x, bool cards) {
  std::vector<double> middle(static_cast<std::size_t>(part.rows), 0.0);
  for (int r = part.rows - 1; r >= 0; --r) {
    const auto row = static_cast<std::size_t>(r);
    put_labels(part.labels[row + 1], label_x, y + part.gaps[row + 1] / 2);
    y += part.gaps[row + 1];
    middle[row] = y + part.heights[row] / 2;
    y += part.heights[row];
  }
  put_labels(part.labels[0], label_x, y + part.gaps[0] / 2);
  for (std::size_t i = 0; i < part.boxes.size(); ++i) {
    if (cards && part.row[i] == 0) continue; // has its place in its frame
    const std::size_t b = part.boxes[i];
    const double width = width_of(b), height = height_of(b);
    const double at = middle[static_cast<std::size_t>(part.row[i])];
    out_.boxes[b] = {part.layout.x[i] + dx - width / 2, at - height / 2, width, height};
    if (const PictureFrame* frame = torus_of(picture_, picture_.boxes[b])) {
      const int columns = drawn(*frame, 0), rows = drawn(*frame, 1);
      const SvgPoint first{part.layout.x[i] + dx - (columns - 1) * grid_step / 2,
                           at + 8 - (rows - 1) * grid_step / 2};
      out_.grids.push_back({*picture_.boxes[b].frame, first, columns, rows});
      put_labels(part.axes, label_x, at);
    }
  }
  thread(part, dx, middle);
}

void Placer::thread(const Part& part, double dx, const std::vector<double>& middle) {
  for (std::size_t i = 0; i < part.wires.size(); ++i) {
    const PictureWire& wire = picture_.wires[part.wires[i]];
    PlacedWire placed{part.wires[i], {}, arc_of(part, wire)};
    const int low = std::min(part.row[part.place(wire.a)], part.row[part.place(wire.b)]);
    auto row = static_cast<std::size_t>(low);
    for (const double x : part.layout.bends[i]) {
      ++row;
      placed.points.push_back({x + dx, middle[row] + part.heights[row] / 2});
      placed.points.push_back({x + dx, middle[row] - part.heights[row] / 2});
    }
    out_.wires.push_back(std::move(placed));
  }
}

/// Side by side, one edge above. Returns where the lowest ends.
double Placer::place_frames(std::vector<Part>& parts, double y) {
  double x = margin, lowest = y;
  for (std::size_t f = 0; f < parts.size(); ++f) {
    Part& part = parts[f];
    const PictureFrame& frame = picture_.frames[f];
    const std::string title =
        frame.count > 1 ? frame.title + " × " + grouped(frame.count) : frame.title;
    const double column =
        std::max({part.label_width, text_width(title, 13.5) + 4, text_width(frame.note, 10.5) + 4});
    const double inner = part.layout.right - part.layout.left;
    const double label_x = x + margin + inner + column_gap;
    const SvgBox box{x, y, 2 * margin + inner + column_gap + column, part.height() + 2 * margin};
    place(part, x + margin - part.layout.left, y + margin, label_x, false);
    out_.frames[f] = {box, {label_x, y + margin + 12}};
    x += box.width + margin;
    lowest = std::max(lowest, y + box.height);
  }
  out_.width = std::max(out_.width, x);
  return lowest;
}

PicturePlaces Placer::run(double top) {
  std::vector<Part> parts;
  for (std::size_t f = 0; f < picture_.frames.size(); ++f) {
    parts.push_back(frame_part(f));
    Part& part = parts.back();
    int base = 0;
    for (std::size_t i = 0; i < part.boxes.size(); ++i) {
      if (picture_.boxes[part.boxes[i]].kind == VertexKind::chip) base = part.row[i];
    }
    lay_out(part, base, {});
  }
  // The network's height does not depend on where its boxes stand; its width does.
  Part network = network_part();
  std::vector<double> fixed(network.boxes.size(), 0.0);
  if (!network.boxes.empty()) lay_out(network, 0, fixed);
  double above = 0;
  for (std::size_t r = 1; r < network.gaps.size(); ++r)
    above += network.gaps[r] + (r < network.heights.size() ? network.heights[r] : 0.0);
  out_.height = place_frames(parts, top + above) + margin;
  if (!network.boxes.empty()) {
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      const SvgBox& box = out_.boxes[network.boxes[i]];
      fixed[i] = box.x + box.width / 2;
    }
    lay_out(network, 0, fixed);
    const double shift = std::max(0.0, margin - network.layout.left);
    place(network, shift, top, network.layout.right + shift + column_gap, true);
    out_.width = std::max(out_.width,
                          network.layout.right + shift + column_gap + network.label_width + margin);
  }
  attach_wires(picture_, out_);
  return std::move(out_);
}

} // namespace

double text_width(std::string_view text, double font_size) {
  return 0.6 * font_size * static_cast<double>(columns_of(text));
}

const PictureFrame* torus_of(const Picture& picture, const PictureBox& box) {
  if (box.kind != VertexKind::chip || !box.frame) return nullptr;
  const PictureFrame& frame = picture.frames[*box.frame];
  return frame.torus.empty() ? nullptr : &frame;
}

PicturePlaces places_of(const Picture& picture, const std::vector<std::string>& links, double top) {
  return Placer(picture, links).run(top);
}

} // namespace clustersim
