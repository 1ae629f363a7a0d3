#include "report/svg.hpp"

#include "base/text.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace clustersim {
namespace {

struct Hue {
  std::string_view fill, line; // on white
  std::string_view dark_fill, dark_line;
};
constexpr std::array hues{Hue{"#dcebf7", "#0068a8", "#0e2c44", "#64b5f0"},  // blue
                          Hue{"#d8f1e7", "#00805c", "#07382b", "#45d0a1"},  // green
                          Hue{"#eceef1", "#6b7280", "#2a2f37", "#a3adba"},  // grey
                          Hue{"#f6e4ef", "#9c3f78", "#3e2234", "#e6a0ca"},  // purple
                          Hue{"#fdf1d8", "#9a6700", "#3a2d0c", "#f0bd4b"},  // amber
                          Hue{"#dcf3f6", "#0b6b7e", "#0b2f36", "#55c8dd"},  // cyan
                          Hue{"#e6e3f8", "#5646b3", "#2a2553", "#b0a4ff"}}; // violet
constexpr std::array<std::string_view, svg_load_steps> loads{"#cfd4db", "#9cc7e4", "#4a97cf",
                                                             "#1c66ab", "#0a3a78"};
constexpr std::array<std::string_view, svg_load_steps> dark_loads{"#39414d", "#215481", "#2f82c4",
                                                                  "#74baec", "#d0eaff"};

constexpr std::string_view fixed_rules = R"(
text { font-family: system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-size: 12px; }
.title { font-size: 17px; font-weight: 600; }
.frame { font-size: 13.5px; }
.small { font-size: 10.5px; }
.strong { font-weight: 600; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.wire, .binding, [class^="load"] { fill: none; stroke-linecap: round; }
.faint { opacity: 0.45; }
)";

std::string colour_rules(bool dark) {
  std::string out = fmt::format(
      ".paper {{ fill: {}; }}\n.panel {{ fill: {}; stroke: {}; }}\ntext {{ fill: {}; }}\n"
      ".dim {{ fill: {}; }}\n.wire {{ stroke: {}; }}\n.binding {{ stroke: {}; }}\n"
      "rect.binding {{ fill: {}; }}\ntext.binding {{ fill: {}; stroke: none; }}\n",
      dark ? "#0f141b" : "#ffffff", dark ? "#161c25" : "#f7f8fa", dark ? "#3a4452" : "#cdd3db",
      dark ? "#e6eaf0" : "#1b2430", dark ? "#9aa6b5" : "#596575", dark ? "#7f8b9b" : "#8a94a3",
      dark ? "#ff9142" : "#d55e00", dark ? "#ff9142" : "#d55e00", dark ? "#ff9142" : "#c05000");
  for (std::size_t i = 0; i < hues.size(); ++i) {
    const Hue& hue = hues[i];
    out += fmt::format(".hue{} {{ fill: {}; stroke: {}; }}\n", i, dark ? hue.dark_fill : hue.fill,
                       dark ? hue.dark_line : hue.line);
  }
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const std::string_view colour = dark ? dark_loads[i] : loads[i];
    out += fmt::format(".load{0} {{ stroke: {1}; }}\nrect.load{0} {{ fill: {1}; }}\n", i, colour);
  }
  return out;
}

} // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  }
  return out;
}

std::string svg_number(double value) {
  const double tenths = std::round(value * 10.0) / 10.0;
  return shortest(tenths == 0.0 ? 0.0 : tenths); // no minus zero
}

SvgWriter::SvgWriter(double width, double height, std::string_view title,
                     std::string_view description) {
  const std::string w = svg_number(std::ceil(width)), h = svg_number(std::ceil(height));
  out_ = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                     "viewBox=\"0 0 {0} {1}\" role=\"img\" aria-labelledby=\"title desc\">\n"
                     "<title id=\"title\">{2}</title>\n<desc id=\"desc\">{3}</desc>\n<style>{4}{5}"
                     "@media (prefers-color-scheme: dark) {{\n{6}}}\n</style>\n",
                     w, h, xml_text(title), xml_text(description), fixed_rules, colour_rules(false),
                     colour_rules(true));
  rectangle({0, 0, std::ceil(width), std::ceil(height)}, 0, "paper");
}

void SvgWriter::open(std::string_view classes, std::string_view tooltip) {
  out_ += classes.empty() ? "<g>" : fmt::format("<g class=\"{}\">", classes);
  if (!tooltip.empty()) out_ += fmt::format("<title>{}</title>", xml_text(tooltip));
  out_ += "\n";
  ++depth_;
}

void SvgWriter::close() {
  out_ += "</g>\n";
  --depth_;
}

void SvgWriter::rectangle(const SvgBox& box, double radius, std::string_view classes) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", svg_number(box.x),
                      svg_number(box.y), svg_number(box.width), svg_number(box.height));
  if (radius > 0) out_ += fmt::format(" rx=\"{}\"", svg_number(radius));
  out_ += fmt::format(" class=\"{}\"/>\n", classes);
}

void SvgWriter::line(SvgPoint from, SvgPoint to, double thickness, std::string_view classes) {
  out_ += fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke-width=\"{}\" class=\"{}\"/>\n",
      svg_number(from.x), svg_number(from.y), svg_number(to.x), svg_number(to.y),
      svg_number(thickness), classes);
}

void SvgWriter::path(std::string_view data, double thickness, std::string_view classes) {
  out_ += fmt::format("<path d=\"{}\" stroke-width=\"{}\" class=\"{}\"/>\n", data,
                      svg_number(thickness), classes);
}

void SvgWriter::text(SvgPoint at, std::string_view words, std::string_view classes) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", svg_number(at.x),
                      svg_number(at.y), classes, xml_text(words));
}

std::string SvgWriter::finish() {
  while (depth_ > 1)
    close();
  return out_ + "</svg>\n";
}

} // namespace clustersim
