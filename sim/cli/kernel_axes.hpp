#pragma once
// The dimensions of a kernel on the command line, and all the points that their ranges span.

#include "cli/options.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim::cli {

/// How the texts of a dimension are read.
enum class AxisForm { count, tokens, size, watts };

struct Axis {
  std::string_view name; // "kv-heads": the option without its dashes
  AxisForm form = AxisForm::count;
  std::string KernelOptions::*given;
  std::string_view otherwise; // as a user would write it; empty = may be left out
  bool needed = false;        // without `otherwise`: an error when it is not given
};

/// Values by dimension. Plain numbers, for a dimension is any of counts, bytes and watts.
using Point = std::map<std::string, double, std::less<>>;

/// Every combination, at most as many as one range may hold. Sweeps vary slowest, in the order
/// given. Throws Failure.
[[nodiscard]] std::vector<Point> points_of(const KernelOptions& options,
                                           const std::vector<Axis>& axes);

} // namespace clustersim::cli
