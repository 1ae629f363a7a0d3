// Where the wires of a drawing meet its boxes.

#include "report/topology_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace clustersim {
namespace {

/// Where a wire meets a box: straight below the next point where it can, else spread evenly.
struct End {
  std::size_t wire = 0;
  bool last = false; // which end of the wire's points
  double other = 0;  // where it comes from
  int side = 0;      // 0 top, 1 bottom
};

void set_ends(const SvgBox& box, std::vector<End>& ends, std::vector<PlacedWire>& wires) {
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.other < b.other; });
  const double left = box.x + 8, right = box.x + box.width - 8;
  std::set<double> distinct;
  for (const End& end : ends)
    distinct.insert(std::round(end.other));
  const bool straight =
      distinct.size() == ends.size() && std::all_of(ends.begin(), ends.end(), [&](const End& end) {
        return end.other >= left && end.other <= right;
      });
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const double even =
        box.x + box.width * (static_cast<double>(i) + 1) / (static_cast<double>(ends.size()) + 1);
    const SvgPoint at{straight ? ends[i].other : even,
                      ends[i].side == 0 ? box.y : box.y + box.height};
    std::vector<SvgPoint>& points = wires[ends[i].wire].points;
    (ends[i].last ? points.back() : points.front()) = at;
  }
}

} // namespace

void attach_wires(const Picture& picture, PicturePlaces& places) {
  const auto centre = [&](std::size_t b) { return places.boxes[b].x + places.boxes[b].width / 2; };
  std::vector<std::array<std::vector<End>, 2>> ends(places.boxes.size());
  for (std::size_t i = 0; i < places.wires.size(); ++i) {
    PlacedWire& placed = places.wires[i];
    const PictureWire& wire = picture.wires[placed.wire];
    const SvgBox &a = places.boxes[wire.a], &b = places.boxes[wire.b];
    const bool same_row = std::abs(a.y + a.height / 2 - b.y - b.height / 2) < 1;
    if (same_row && placed.arc == 0) { // from side to side
      const bool order = a.x < b.x;
      const SvgBox &l = order ? a : b, &r = order ? b : a;
      placed.points = {{l.x + l.width, l.y + l.height / 2}, {r.x, r.y + r.height / 2}};
      continue;
    }
    const std::size_t low = a.y > b.y ? wire.a : wire.b, high = low == wire.a ? wire.b : wire.a;
    const double first = placed.points.empty() ? centre(high) : placed.points.front().x;
    const double last = placed.points.empty() ? centre(low) : placed.points.back().x;
    placed.points.insert(placed.points.begin(), SvgPoint{});
    placed.points.push_back({});
    if (same_row) {
      const int side = placed.arc > 0 ? 1 : 0;
      // Near partners outside, far ones inside, so that arcs of one chip do not cross.
      const double away = 1e9 / (1.0 + std::abs(centre(high) - centre(low)));
      const double sign = centre(high) >= centre(low) ? 1 : -1;
      ends[low][static_cast<std::size_t>(side)].push_back({i, false, sign * away, side});
      ends[high][static_cast<std::size_t>(side)].push_back({i, true, -sign * away, side});
      continue;
    }
    ends[low][0].push_back({i, false, first, 0});
    ends[high][1].push_back({i, true, last, 1});
  }
  for (std::size_t b = 0; b < ends.size(); ++b) {
    for (std::vector<End>& side : ends[b])
      set_ends(places.boxes[b], side, places.wires);
  }
}

} // namespace clustersim
