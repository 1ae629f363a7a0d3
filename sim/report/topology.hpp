#pragma once
// `topology`: a machine's graph in figures: text, JSON (clustersim.topology/1), CSV; and drawn: DOT
// for Graphviz, SVG by a layout of our own (docs/explanation/link-graph.md).

#include "report/layout.hpp"
#include "study/topology.hpp"

#include <string>
#include <string_view>

namespace clustersim {

[[nodiscard]] std::string render_topology_text(const TopologyAnswer& answer, TextStyle style);
[[nodiscard]] std::string render_topology_json(const TopologyAnswer& answer,
                                               std::string_view version);
[[nodiscard]] std::string render_topology_csv(const TopologyAnswer& answer);
[[nodiscard]] std::string render_topology_dot(const TopologyAnswer& answer);
[[nodiscard]] std::string render_topology_svg(const TopologyAnswer& answer);

} // namespace clustersim
