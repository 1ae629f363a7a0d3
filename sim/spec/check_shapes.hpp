#pragma once
// What a torus or a list of edges must satisfy before a graph is built of it.

#include "spec/cluster.hpp"

#include <string>
#include <vector>

namespace clustersim {

struct ShapeProblem {
  std::string key; // "scale_up.edges"
  std::string message, expected;
};

/// Of the node alone: text that is no torus or edge, self-loops, repeated edges, too many links.
/// Edges of chips beyond node.chips stand for places that are not filled.
[[nodiscard]] std::vector<ShapeProblem> shape_problems(const Node& node);
/// Of the fabric alone.
[[nodiscard]] std::vector<ShapeProblem> shape_problems(const Fabric& fabric);
/// Of an explicit fabric between so many nodes: every card plugged in once, all of them connected.
[[nodiscard]] std::vector<ShapeProblem> shape_problems(const Partition& partition);

} // namespace clustersim
