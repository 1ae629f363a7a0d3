#include "spec/scale_up_graph.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace clustersim {
namespace {

constexpr int most = 1 << 20;
constexpr std::string_view axis_names = "xyz";

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end || value < 0 || value > most) {
    return std::nullopt;
  }
  return value;
}

std::string quoted(std::string_view text) {
  return "'" + printable(text.substr(0, 60)) + "'";
}

bool sound_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
  });
}

std::optional<std::vector<TorusAxis>> listed_axes(std::string_view extents) {
  std::vector<TorusAxis> axes;
  for (const std::string& text : split(extents, 'x')) {
    const auto extent = whole(trim(text));
    if (!extent || *extent < 1 || axes.size() == axis_names.size()) return std::nullopt;
    axes.push_back({*extent, false});
  }
  return axes;
}

/// Sides in rising order whose product is `chips`: among those with the most sides that are
/// multiples of `period`, those with the smallest longest side, then the largest shortest one.
std::vector<TorusAxis> evenest_axes(int chips, int dimensions, int period) {
  std::array<int, 4> best{-1, 0, 0, 0}; // sides that close, −longest, shortest, middle
  for (int x = 1; x <= (dimensions == 3 ? chips / x / x : 1); ++x) {
    if (chips % x != 0) continue;
    for (int y = x; y <= chips / x / y; ++y) {
      if (chips / x % y != 0) continue;
      const int z = chips / x / y;
      const int closed = (x % period == 0) + (y % period == 0) + (z % period == 0);
      best = std::max(best, {closed, -z, x, y});
    }
  }
  std::vector<TorusAxis> axes{{best[2], false}, {best[3], false}, {-best[1], false}};
  if (dimensions == 2) axes.erase(axes.begin());
  return axes;
}

void close_axes(std::vector<TorusAxis>& axes, std::string_view wrap, std::optional<int> period) {
  const auto whole_multiple = [&](const TorusAxis& axis) { return axis.extent % *period == 0; };
  const bool cubes =
      !period || axes.size() < 3 || std::all_of(axes.begin(), axes.end(), whole_multiple);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const bool meant = period ? cubes && whole_multiple(axes[a])
                              : wrap == "all" || wrap.find(axis_names[a]) != std::string_view::npos;
    axes[a].wraps = meant && wrap != "none" && axes[a].extent > 2;
  }
}

} // namespace

std::optional<int> vertex_number(std::string_view name) {
  return whole(name);
}

std::optional<std::vector<TorusAxis>> torus_axes(std::string_view extents, std::string_view wrap,
                                                 int chips, std::string& why) {
  const std::optional<int> period = whole(wrap);
  auto axes =
      extents == "2d" || extents == "3d"
          ? std::optional(evenest_axes(chips, extents[0] - '0', std::max(period.value_or(1), 1)))
          : listed_axes(extents);
  if (!axes) {
    why = quoted(extents) + " is no torus such as \"16x16\", \"4x4x8\" or \"3d\"";
    return std::nullopt;
  }
  const std::string_view known = axis_names.substr(0, axes->size());
  const bool named = wrap != "all" && wrap != "none" && !period;
  if (period == 0 ||
      (named && (wrap.empty() || wrap.find_first_not_of(known) != std::string_view::npos))) {
    why = quoted(wrap) + " names no axes: \"all\", \"none\", some of \"" + std::string(known) +
          "\" or the number of which closed axes are multiples";
    return std::nullopt;
  }
  close_axes(*axes, wrap, period);
  return axes;
}

std::optional<ListedEdge> listed_edge(std::string_view text, std::string& why) {
  ListedEdge edge;
  std::string_view ends = text;
  const std::size_t x = text.rfind(" x");
  if (x != std::string_view::npos) {
    const auto links = whole(trim(text.substr(x + 2)));
    edge.links = links ? *links : 0.0;
    ends = text.substr(0, x);
  }
  const std::size_t sign = ends.find_first_of("->");
  if (sign == std::string_view::npos || !(edge.links > 0.0)) {
    why = quoted(text) + " is no edge such as \"0-3 x2\"";
    return std::nullopt;
  }
  edge.both_ways = ends[sign] == '-';
  edge.from = trim(ends.substr(0, sign));
  edge.to = trim(ends.substr(sign + 1));
  if (!sound_name(edge.from) || !sound_name(edge.to)) {
    why = quoted(text) + " is no edge such as \"0-3 x2\"";
    return std::nullopt;
  }
  if (edge.from == edge.to) {
    why = quoted(text) + " joins a vertex to itself";
    return std::nullopt;
  }
  return edge;
}

std::optional<ListedPort> listed_port(std::string_view name) {
  if (name.rfind("node", 0) != 0) return std::nullopt;
  const std::size_t dot = name.find('.');
  const auto node = whole(name.substr(4, dot == std::string_view::npos ? dot : dot - 4));
  if (!node) return std::nullopt;
  if (dot == std::string_view::npos) return ListedPort{*node, std::nullopt};
  const std::string_view rest = name.substr(dot + 1);
  const auto nic = rest.rfind("nic", 0) == 0 ? whole(rest.substr(3)) : std::nullopt;
  return nic ? std::optional(ListedPort{*node, nic}) : std::nullopt;
}

} // namespace clustersim
