#pragma once
// The roofline (Williams, Waterman, Patterson, CACM 2009, eq. 1): attainable = min(peak, intensity
// · BW). The ridge point is the intensity at which both roofs meet: peak / BW.

#include "base/quantity.hpp"

namespace clustersim {

[[nodiscard]] FlopsPerSecond attainable(FlopsPerByte intensity, FlopsPerSecond peak,
                                        BytesPerSecond bandwidth);
[[nodiscard]] FlopsPerByte ridge_point(FlopsPerSecond peak, BytesPerSecond bandwidth);

/// Joins roofs that overlap imperfectly: (a^6 + b^6)^(1/6), by multiplications and two roots, since
/// std::pow dominates a GEMM evaluation otherwise. Exact 0 and identity for a single roof.
[[nodiscard]] Seconds join_roofs(Seconds a, Seconds b);
[[nodiscard]] Seconds join_roofs(Seconds a, Seconds b, Seconds c, Seconds d);

} // namespace clustersim
