#pragma once
// How traffic of a chip leaves its node and enters another.

#include "network/routing.hpp"
#include "network/shortest_path.hpp"

#include <vector>

namespace clustersim {

/// All ways from a chip to the fabric (or from the fabric to it), the cheapest per port, cheapest
/// first. A chip may use another chip's NIC by way of their scale-up links (NCCL's PXN), so that
/// traffic for another rail need not climb to the spine.
[[nodiscard]] std::vector<Gate> find_gates(const LinkGraph& graph, const NodeBlock& node,
                                           std::size_t chip, bool leaving);

[[nodiscard]] PathCost cost_of(const Route& route);

} // namespace clustersim
