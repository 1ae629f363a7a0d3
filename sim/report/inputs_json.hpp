#pragma once
// Internal to this folder's .cpp files: resolved values as one JSON object, keyed by their dotted
// keys.

#include "report/json_writer.hpp"
#include "spec/scenario.hpp"

#include <vector>

namespace clustersim {

[[nodiscard]] Json inputs_json(const std::vector<ResolvedValue>& values);

} // namespace clustersim
