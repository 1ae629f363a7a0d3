#pragma once
// A calibration file laid over the catalogue: what `clustersim calibrate -o` writes, and what
// --calibration and a scenario's `[calibration] use` read. Its tables are those that a scenario may
// write itself, so that they go through the same schemas:
//
//   [override.chip."h100-sxm5-80gb".calibration.gemm]
//   burst.bf16 = { value = 0.81, source = "fit" }
//
// Order of precedence: the catalogue's file, this one, the scenario's own [override], --set.

#include "base/diagnostic.hpp"
#include "spec/catalogue.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// Reads and checks every object that the file names. Nothing on errors, which are located in it.
[[nodiscard]] std::optional<Overlay> load_overlay(const std::string& path,
                                                  const Catalogue& catalogue, Diagnostics& out);

/// The same from --set, for verbs without a scenario.
[[nodiscard]] std::optional<Overlay> settings_overlay(const std::vector<std::string>& settings,
                                                      const Catalogue& catalogue, Diagnostics& out);

/// Whether `check` shall read the file as one.
[[nodiscard]] bool is_overlay_file(const std::string& path);

/// "Calibration fit.toml: chip h100-sxm5-80gb with gemm.burst.bf16 = 0.81, …"; nothing when the
/// overlay does not name that object.
[[nodiscard]] std::optional<std::string> overlay_sentence(const Overlay& overlay,
                                                          const ObjectKey& object);

} // namespace clustersim
