#include "report/layout.hpp"
#include "report/svg.hpp"
#include "report/topology.hpp"
#include "report/topology_places.hpp"
#include "report/topology_words.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr double margin = 16, title_line = 22, text_line = 16, legend_height = 34;
constexpr double legend_step = 66, legend_width = 5 * legend_step + 150;

int hue_of(VertexKind kind) {
  switch (kind) {
  case VertexKind::chip:
    return 1;
  case VertexKind::host_memory:
  case VertexKind::root_complex:
    return 2;
  case VertexKind::pcie_switch:
    return 5;
  case VertexKind::scale_up_switch:
    return 3;
  case VertexKind::nic:
    return 4;
  case VertexKind::leaf:
    return 0;
  case VertexKind::spine:
    break;
  }
  return 6;
}

std::string wire_class(std::optional<double> load, bool binding) {
  if (binding) return "binding";
  if (!load) return "wire";
  return *load > 0.0 ? fmt::format("load{}", load_step(*load)) : "wire faint";
}

class Drawing {
public:
  Drawing(const TopologyAnswer& answer, const Picture& picture, const PicturePlaces& places)
      : answer_(answer), picture_(picture), places_(places) {}
  std::string draw(const std::vector<std::string>& head, double width, double height);

private:
  void draw_frames();
  void draw_wires();
  void draw_wire(const PlacedWire& placed);

  void draw_box(std::size_t number);
  void draw_grid(const PlacedGrid& grid);
  void draw_axis(const PlacedGrid& grid, const PictureAxis& axis, std::size_t number);
  void draw_labels();
  void draw_legend(double y);
  [[nodiscard]] double thickness(BytesPerSecond rate, bool binding) const;

  const TopologyAnswer& answer_;
  const Picture& picture_;
  const PicturePlaces& places_;
  SvgWriter* svg_ = nullptr;
};

/// The fastest link of the picture is drawn thickest.
double Drawing::thickness(BytesPerSecond rate, bool binding) const {
  BytesPerSecond most;
  for (const PictureWire& wire : picture_.wires)
    most = std::max(most, wire.rate);
  const double share = most.si() > 0.0 ? std::min(1.0, rate / most) : 1.0;
  return 1.2 + 2.2 * std::sqrt(share) + (binding ? 1.2 : 0.0);
}

void Drawing::draw_frames() {
  for (std::size_t f = 0; f < places_.frames.size(); ++f) {
    const PictureFrame& frame = picture_.frames[f];
    const PlacedFrame& placed = places_.frames[f];
    svg_->rectangle(placed.box, 8, "panel");
    const std::string title =
        frame.count > 1 ? frame.title + " × " + grouped(frame.count) : frame.title;
    svg_->text(placed.title, title, "frame strong");
    svg_->text({placed.title.x, placed.title.y + 15}, frame.note, "small dim");
  }
}

void Drawing::draw_wire(const PlacedWire& placed) {
  const PictureWire& wire = picture_.wires[placed.wire];
  const std::string link = answer_.graph.link_classes()[wire.link_class.at()].name;
  svg_->open("", fmt::format("{} - {}: {}, {}", picture_.boxes[wire.a].title,
                             picture_.boxes[wire.b].title, link, wire_text(wire)));
  std::string path;
  const std::vector<SvgPoint>& points = placed.points;
  if (placed.arc != 0) {
    const double depth = points.front().y + placed.arc * 4 / 3; // of the Bézier curve's handles
    path = fmt::format("M{} {}C{} {} {} {} {} {}", svg_number(points.front().x),
                       svg_number(points.front().y), svg_number(points.front().x),
                       svg_number(depth), svg_number(points.back().x), svg_number(depth),
                       svg_number(points.back().x), svg_number(points.back().y));
  } else {
    for (const SvgPoint& point : points)
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", svg_number(point.x),
                          svg_number(point.y));
  }
  svg_->path(path, thickness(wire.rate, wire.binding), wire_class(wire.load, wire.binding));
  svg_->close();
}

/// Idle ones first, so that none lies over a busy one.
void Drawing::draw_wires() {
  std::vector<const PlacedWire*> order;
  for (const PlacedWire& wire : places_.wires)
    order.push_back(&wire);
  std::stable_sort(order.begin(), order.end(), [&](const PlacedWire* a, const PlacedWire* b) {
    const PictureWire &x = picture_.wires[a->wire], &y = picture_.wires[b->wire];
    return std::pair{x.binding, x.load.value_or(0.0)} < std::pair{y.binding, y.load.value_or(0.0)};
  });
  for (const PlacedWire* wire : order)
    draw_wire(*wire);
}

void Drawing::draw_axis(const PlacedGrid& grid, const PictureAxis& axis, std::size_t number) {
  if (axis.axis.extent < 2) return;
  const std::string classes = wire_class(axis.load, axis.binding);
  const std::array<SvgPoint, 3> steps{SvgPoint{grid_step, 0}, {0, -grid_step}, {15, -15}};
  const SvgPoint step = steps.at(number);
  const int extent = number == 0 ? grid.columns : number == 1 ? grid.rows : 1;
  const bool cut = axis.axis.extent > extent; // goes on beyond what is drawn
  const bool stubs = axis.axis.wraps || cut;
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      const SvgPoint at{grid.first.x + column * grid_step,
                        grid.first.y + (grid.rows - 1 - row) * grid_step};
      const int c = number == 0 ? column : number == 1 ? row : 0;
      const bool first = c == 0, last = c + 1 == extent;
      const double stub = number == 2 ? 1.0 : 0.5;
      if (!last || stubs) {
        const double f = last ? stub : 1.0;
        svg_->line(at, {at.x + step.x * f, at.y + step.y * f}, 2.2, classes);
      }
      if (first && axis.axis.wraps && number != 2)
        svg_->line(at, {at.x - step.x * stub, at.y - step.y * stub}, 2.2, classes);
    }
  }
}

void Drawing::draw_grid(const PlacedGrid& grid) {
  const PictureFrame& frame = picture_.frames[grid.frame];
  for (std::size_t a = frame.torus.size(); a-- > 0;)
    draw_axis(grid, frame.torus[a], a);
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      svg_->rectangle({grid.first.x + column * grid_step - grid_chip / 2,
                       grid.first.y + row * grid_step - grid_chip / 2, grid_chip, grid_chip},
                      3, fmt::format("hue{}", hue_of(VertexKind::chip)));
    }
  }
}

void Drawing::draw_box(std::size_t number) {
  const PictureBox& box = picture_.boxes[number];
  const SvgBox& place = places_.boxes[number];
  const double middle = place.x + place.width / 2;
  const std::string repeated = box.count > 1 ? "× " + grouped(box.count) : "";
  if (const PictureFrame* torus = torus_of(picture_, box)) {
    svg_->rectangle(place, 6, "panel");
    const std::int64_t planes = torus->torus.size() > 2 ? torus->torus[2].axis.extent : 1;
    svg_->text({middle, place.y + 15},
               planes > 1 ? fmt::format("one of {} planes", planes)
                          : fmt::format("{} chips", grouped(box.count)),
               "small dim middle");
    return;
  }
  svg_->rectangle(place, 5, fmt::format("hue{}", hue_of(box.kind)));
  const double y = place.y + place.height / 2;
  if (repeated.empty()) {
    const bool narrow = text_width(box.title, 12) + 8 > place.width;
    svg_->text({middle, y + 4}, box.title, narrow ? "middle small" : "middle");
  } else {
    svg_->text({middle, y - 2}, box.title, "middle small");
    svg_->text({middle, y + 12}, repeated, "middle strong");
  }
}

void Drawing::draw_labels() {
  for (const PlacedLabel& placed : places_.labels) {
    const SvgPoint at = placed.at;
    svg_->line({at.x, at.y}, {at.x + 14, at.y}, 4,
               wire_class(placed.label.load, placed.label.binding));
    svg_->text({at.x + 20, at.y - 3}, placed.label.link, "small strong");
    svg_->text({at.x + 20, at.y + 11}, placed.label.text, "small");
  }
}

void Drawing::draw_legend(double y) {
  for (int step = 0; step < svg_load_steps; ++step) {
    const double x = margin + step * legend_step;
    svg_->rectangle({x, y, legend_step - 6, 8}, 2, fmt::format("load{}", step));
    svg_->text({x, y + 21}, fmt::format("{}-{} %", step * 20, step * 20 + 20), "small");
  }
  const double x = margin + svg_load_steps * legend_step + 10;
  svg_->rectangle({x, y, legend_step - 6, 8}, 2, "binding");
  svg_->text({x, y + 21}, "sets the rate", "small");
}

std::string Drawing::draw(const std::vector<std::string>& head, double width, double height) {
  SvgWriter svg(width, height, head.front(),
                "A machine as a graph: boxes are chips, switches and cards, lines are links.");
  svg_ = &svg;
  double y = margin + title_line - 6;
  for (std::size_t i = 0; i < head.size(); ++i) {
    svg.text({margin, y}, head[i], i == 0 ? "title" : "dim");
    y += i == 0 ? title_line : text_line;
  }
  draw_frames();
  draw_wires();
  for (std::size_t b = 0; b < picture_.boxes.size(); ++b)
    draw_box(b);
  for (const PlacedGrid& grid : places_.grids)
    draw_grid(grid);
  draw_labels();
  if (answer_.loads) draw_legend(height - legend_height);
  return svg.finish();
}

} // namespace

std::string render_topology_svg(const TopologyAnswer& answer) {
  const Picture picture = picture_of(answer);
  std::vector<std::string> links;
  for (const Link& link : answer.graph.link_classes())
    links.push_back(link.name);
  const double least = std::max(places_of(picture, links, 0).width,
                                answer.loads ? legend_width + margin : 2 * margin);
  std::vector<std::string> head{describe(answer.machine.cluster)};
  const double width = std::max(least, std::min(860.0, text_width(head.front(), 17) + 2 * margin));
  const auto columns = static_cast<std::size_t>((width - 2 * margin) / text_width("x", 12));
  if (answer.loads) {
    for (std::string& line : wrap(load_sentence(answer), columns))
      head.push_back(std::move(line));
  }
  const double top = margin + title_line + text_line * (static_cast<double>(head.size()) - 1) + 10;
  const PicturePlaces places = places_of(picture, links, top);
  const double height = places.height + (answer.loads ? legend_height + 8 : 0);
  return Drawing(answer, picture, places).draw(head, width, height);
}

} // namespace clustersim
