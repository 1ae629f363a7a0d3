#pragma once
// A chip may replace parts of its calibration's lists by tables, key by key.

#include "base/diagnostic.hpp"
#include "spec/tree.hpp"

namespace clustersim {

/// `attention` as tables by kernel: each replaces keys of that kernel alone.
void lay_attention(Tree& calibration, Tree& replaced, Diagnostics& out);

/// `gemm.library` as tables by name and precision, `memory.library` by name and class.
void lay_libraries(Tree& calibration, Tree& replaced, Diagnostics& out);

} // namespace clustersim
