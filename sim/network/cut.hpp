#pragma once
// What two sets of chips can send each other: a maximum flow on the folded graph.

#include "network/link_graph.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// From all chips of side 1 to all chips of side 2 (0 = neither), over the edges that routes of the
/// graph take.
[[nodiscard]] BytesPerSecond flow_between(const LinkGraph& graph, const std::vector<char>& side);

struct Bisection {
  BytesPerSecond rate;     // one direction
  std::size_t half = 0;    // chips on the smaller side
  std::string description; // "nodes 0-1 | 2-3", "torus cut across x", "the worst of 35 halvings"
};
/// The least of the halvings that are tried: across every axis of a torus; all of a node of up to
/// sixteen chips; else the first half of nodes, or of chips, against the rest.
[[nodiscard]] Bisection bisection_of(const LinkGraph& graph);

} // namespace clustersim
