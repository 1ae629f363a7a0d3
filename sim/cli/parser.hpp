#pragma once
// argv → Options. The only file that knows CLI11. Throws Failure on a command line it cannot
// accept.

#include "cli/options.hpp"

namespace clustersim::cli {

[[nodiscard]] Options parse(int argc, const char* const* argv);

} // namespace clustersim::cli
