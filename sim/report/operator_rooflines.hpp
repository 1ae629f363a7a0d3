#pragma once
// The operators of a timeline on the roofline of their chip: intensity, rates, and the share of
// what the data sheet allows at that intensity.

#include "engine/analytic.hpp"
#include "report/layout.hpp"
#include "spec/chip.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// One kernel of one block. `share` is of min(peak, intensity · bandwidth), or of the bandwidth
/// where the kernel computes nothing on matrix units; peaks are dense.
struct OperatorPoint {
  std::string block, name;
  std::int64_t calls = 0;
  Seconds each, all;
  FlopsPerByte intensity;
  FlopsPerSecond rate;
  BytesPerSecond bandwidth;
  double share = 0.0;
  std::string limit; // of the law: matrix, memory, launch ...
};

/// Kernels alone, longest first; collectives have no roofline of a chip.
[[nodiscard]] std::vector<OperatorPoint> operator_points(const Chip& chip,
                                                         const Timeline& timeline);
[[nodiscard]] std::string operator_roofline_section(std::string_view title, const Chip& chip,
                                                    const Timeline& timeline, TextStyle style);

/// A timeline by name: "training step", "prefill", "decode step".
struct NamedTimeline {
  std::string name;
  const Timeline* timeline = nullptr;
};
[[nodiscard]] std::string render_operators_json(const Chip& chip,
                                                const std::vector<NamedTimeline>& timelines,
                                                std::string_view version);
[[nodiscard]] std::string render_operators_csv(const Chip& chip,
                                               const std::vector<NamedTimeline>& timelines);

} // namespace clustersim
