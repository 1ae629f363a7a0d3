#include "report/topology_labels.hpp"

#include "base/units.hpp"
#include "report/layout.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace clustersim {
namespace {

struct Sum {
  PictureWire wire;
  double least = 1.0;
};

std::string load_words(std::optional<double> most, double least) {
  if (!most) return "";
  if (!(*most > 0.0)) return ", idle";
  const std::string low = percent(least), high = percent(*most);
  return ", load " + (low == high ? high : low + " - " + high);
}

} // namespace

std::vector<WireLabel> labels_of(const Picture& picture, const std::vector<std::size_t>& wires,
                                 const std::vector<std::string>& links) {
  std::map<std::tuple<std::uint32_t, double, VertexKind, VertexKind>, std::size_t> known;
  std::vector<Sum> sums;
  for (const std::size_t w : wires) {
    const PictureWire& wire = picture.wires[w];
    const VertexKind a = picture.boxes[wire.a].kind, b = picture.boxes[wire.b].kind;
    const auto [found, fresh] = known.try_emplace(
        {wire.link_class.value, wire.rate.si(), std::min(a, b), std::max(a, b)}, sums.size());
    if (fresh) {
      sums.push_back({wire, wire.load.value_or(0.0)});
      continue;
    }
    Sum& sum = sums[found->second];
    sum.wire.count += wire.count;
    sum.wire.binding = sum.wire.binding || wire.binding;
    if (!wire.load) continue;
    sum.wire.load = std::max(*sum.wire.load, *wire.load);
    sum.least = std::min(sum.least, *wire.load);
  }
  std::vector<WireLabel> labels;
  for (const Sum& sum : sums) {
    const std::string text =
        fmt::format("{} × {}{}", grouped(sum.wire.count), format_quantity(sum.wire.rate, 3),
                    load_words(sum.wire.load, sum.least));
    labels.push_back({links[sum.wire.link_class.at()], text, sum.wire.load, sum.wire.binding});
  }
  return labels;
}

std::vector<WireLabel> labels_of(const PictureFrame& torus, const std::vector<std::string>& links) {
  std::vector<WireLabel> labels;
  for (std::size_t a = 0; a < torus.torus.size(); ++a) {
    const PictureAxis& axis = torus.torus[a];
    if (axis.axis.extent < 2) continue;
    labels.push_back({links[axis.link_class.at()] + ", " + format_quantity(axis.rate, 3),
                      axis_text(axis, a), axis.load, axis.binding});
  }
  return labels;
}

} // namespace clustersim
