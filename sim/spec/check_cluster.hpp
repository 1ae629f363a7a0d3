#pragma once
// What the parts of a cluster need of each other: fabrics between nodes, cards to plug into them.

#include "spec/validate.hpp"

namespace clustersim {

void check_cluster(const ScenarioInput& input, const Reading& reading, const Loaded& loaded,
                   Diagnostics& out);

} // namespace clustersim
