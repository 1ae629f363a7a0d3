#pragma once
// How a node or a fabric is joined when no generator's numbers suffice: the extents of a torus, and
// lists of edges, as text.
//
//   torus   "16x16", "4x4x8"; or "2d", "3d": as near to a square or cube as the number of chips
//           allows, of sides that "wrap" can close where there are such
//   wrap    "all", "none", the axes that close, "xz", or a number: axes of a multiple of it close,
//           on a 3-D torus once every axis is one (optical switches join whole cubes)
//   edge    "0-3", "0-3 x2" (two links), "0>3" (one direction), "0-s1" (a switch named s1)

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct TorusAxis {
  int extent = 1;
  bool wraps = false; // closes to a ring; an axis of two has one link and never does
  friend bool operator==(const TorusAxis&, const TorusAxis&) = default;
};

/// One to three axes, x first; chip number = x + X·(y + Y·z). `chips` matters to "2d" and "3d"
/// alone. Nothing, and `why`, on bad text.
[[nodiscard]] std::optional<std::vector<TorusAxis>>
torus_axes(std::string_view extents, std::string_view wrap, int chips, std::string& why);

struct ListedEdge {
  std::string from, to;
  double links = 1.0;
  bool both_ways = true;
};
[[nodiscard]] std::optional<ListedEdge> listed_edge(std::string_view text, std::string& why);

/// The number that a vertex name is; nothing for the name of a switch.
[[nodiscard]] std::optional<int> vertex_number(std::string_view name);

/// "node3.nic1", or "node3" for all cards of the node.
struct ListedPort {
  int node = 0;
  std::optional<int> nic;
};
[[nodiscard]] std::optional<ListedPort> listed_port(std::string_view name);

} // namespace clustersim
