#pragma once
// `roofline`: what a chip can reach at each arithmetic intensity, as table, plot, JSON and CSV
// (docs/explanation/roofline.md). A roof that the chip lacks does not appear.

#include "report/layout.hpp"
#include "spec/chip.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// The slope of one memory level.
struct MemoryRoof {
  std::string level; // "HBM3", "L2"
  BytesPerSecond bandwidth;
};

/// The ceiling of one kind of arithmetic, and where it meets each slope.
struct ComputeRoof {
  std::string units; // "matrix" or "vector"
  Precision precision = Precision::fp32;
  FlopsPerSecond peak;
  std::vector<FlopsPerByte> ridges; // by memory level
};

struct Roofline {
  std::string id, name;
  std::vector<MemoryRoof> memory;   // slowest first
  std::vector<ComputeRoof> compute; // fastest first
};

/// All roofs of a chip, or those of one precision.
[[nodiscard]] Roofline roofline_of(const Chip& chip, std::optional<Precision> only = std::nullopt);

/// As many as a plot with its legend holds on one screen.
inline constexpr std::size_t most_rooflines = 15;
[[nodiscard]] std::string render_roofline_text(const std::vector<Roofline>& chips, TextStyle style);
[[nodiscard]] std::string render_roofline_json(const std::vector<Roofline>& chips,
                                               std::string_view version);
[[nodiscard]] std::string render_roofline_csv(const std::vector<Roofline>& chips);

} // namespace clustersim
