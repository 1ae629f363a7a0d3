#pragma once
// How a node or a fabric is joined when no generator's numbers suffice: the extents of a torus, and
// lists of edges, as text.
//
//   torus   "16x16", "4x4x8"; wrap "all", "none" or the axes that close, "xz"
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

/// One to three axes, x first; chip number = x + X·(y + Y·z). Nothing, and `why`, on bad text.
[[nodiscard]] std::optional<std::vector<TorusAxis>>
torus_axes(std::string_view extents, std::string_view wrap, std::string& why);

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
