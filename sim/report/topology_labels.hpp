#pragma once
// What the wires of a drawing have in common, said once for all between two rows.

#include "report/topology_picture.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct WireLabel {
  std::string link, text;     // "NVLink 4", "8 × 397 GB/s, load 62 %"
  std::optional<double> load; // the largest
  bool binding = false;
};

/// Wires (by number) of one class and rate between the same kinds of boxes make one label, in order
/// of appearance.
[[nodiscard]] std::vector<WireLabel> labels_of(const Picture& picture,
                                               const std::vector<std::size_t>& wires,
                                               const std::vector<std::string>& links);
/// One label for all axes of a torus that are alike.
[[nodiscard]] std::vector<WireLabel> labels_of(const PictureFrame& torus,
                                               const std::vector<std::string>& links);

} // namespace clustersim
