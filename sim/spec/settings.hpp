#pragma once
// --set key=value, laid on a scenario's tree before it is read: so its mistakes are reported as
// well as a file's, and its values say where they came from.

#include "base/diagnostic.hpp"
#include "spec/tree.hpp"

#include <string>
#include <vector>

namespace clustersim {

void apply_settings(const std::vector<std::string>& settings, Tree& root, Diagnostics& out);

} // namespace clustersim
