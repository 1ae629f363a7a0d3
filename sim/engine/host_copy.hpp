#pragma once
// Copies between chips and their host through the link graph (docs/explanation/offload.md).

#include "engine/cost_model.hpp"

namespace clustersim {

/// All chips of the first node at once, each with the nearest memory: edges that several ways share
/// carry all of them.
[[nodiscard]] HostCopy copy_between_host(const LinkGraph& graph, Router& router, bool to_host);

} // namespace clustersim
