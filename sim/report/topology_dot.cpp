#include "report/topology.hpp"
#include "report/topology_picture.hpp"
#include "report/topology_words.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace clustersim {
namespace {

/// The steps of load as svg.cpp has them on white, and the binding wire's colour.
constexpr std::array<std::string_view, 5> colours{"#cfd4db", "#9cc7e4", "#4a97cf", "#1c66ab",
                                                  "#0a3a78"};
constexpr std::string_view binding_colour = "#d55e00", idle_colour = "#8a94a3";

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    c == '\n' ? out += "\\n" : out += c;
  }
  return out + "\"";
}

std::string_view colour_of(std::optional<double> load, bool binding) {
  if (binding) return binding_colour;
  if (!load || !(*load > 0.0)) return idle_colour;
  return colours.at(static_cast<std::size_t>(load_step(*load)));
}

std::string box_line(const PictureBox& box, std::size_t number) {
  std::string label = printable(box.title);
  if (box.count > 1) label += fmt::format("\n× {}", box.count);
  return fmt::format("v{} [label={}];\n", number, quoted(label));
}

std::string wire_line(const TopologyAnswer& answer, std::size_t a, std::size_t b, LinkClassId link,
                      const std::string& text, std::optional<double> load, bool binding) {
  const std::string name = printable(answer.graph.link_classes()[link.at()].name);
  return fmt::format("  v{} -- v{} [label={}, color={}, penwidth={}];\n", a, b,
                     quoted(name + "\n" + text), quoted(colour_of(load, binding)), binding ? 3 : 2);
}

/// Axes of a torus are loops at its chips.
std::string axis_lines(const TopologyAnswer& answer, const Picture& picture) {
  std::string out;
  for (std::size_t b = 0; b < picture.boxes.size(); ++b) {
    const PictureBox& box = picture.boxes[b];
    if (box.kind != VertexKind::chip || !box.frame) continue;
    const std::vector<PictureAxis>& axes = picture.frames[*box.frame].torus;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if (axes[a].axis.extent < 2) continue;
      out += wire_line(answer, b, b, axes[a].link_class, axis_text(axes[a], a), axes[a].load,
                       axes[a].binding);
    }
  }
  return out;
}

} // namespace

std::string render_topology_dot(const TopologyAnswer& answer) {
  const Picture picture = picture_of(answer);
  std::string title = printable(describe(answer.machine.cluster));
  if (answer.loads) title += "\n" + printable(load_sentence(answer));
  std::string out = fmt::format("graph topology {{\n  graph [label={}, labelloc=t, rankdir=BT, "
                                "fontname=\"Helvetica\"];\n  node [shape=box, "
                                "fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", "
                                "fontsize=9];\n",
                                quoted(title));
  for (std::size_t f = 0; f < picture.frames.size(); ++f) {
    const PictureFrame& frame = picture.frames[f];
    std::string label = printable(frame.title);
    if (frame.count > 1) label += fmt::format(" × {}", frame.count);
    out += fmt::format("  subgraph cluster_{} {{\n    label={};\n", f,
                       quoted(label + "\n" + printable(frame.note)));
    for (std::size_t b = 0; b < picture.boxes.size(); ++b) {
      if (picture.boxes[b].frame == f) out += "    " + box_line(picture.boxes[b], b);
    }
    out += "  }\n";
  }
  for (std::size_t b = 0; b < picture.boxes.size(); ++b) {
    if (!picture.boxes[b].frame) out += "  " + box_line(picture.boxes[b], b);
  }
  for (const PictureWire& wire : picture.wires)
    out += wire_line(answer, wire.a, wire.b, wire.link_class, wire_text(wire), wire.load,
                     wire.binding);
  return out + axis_lines(answer, picture) + "}\n";
}

} // namespace clustersim
