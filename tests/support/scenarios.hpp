#pragma once
// Shipped scenarios for tests.

#include "base/diagnostic.hpp"
#include "spec/load.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace clustersim::test {

inline const Catalogue& shipped_catalogue() {
  static const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  return catalogue;
}

/// configs/NAME.toml with `settings` on top; fails the test with the diagnostics if it does not
/// load.
inline Scenario shipped_scenario(const std::string& name,
                                 const std::vector<std::string>& settings = {}) {
  Diagnostics diagnostics;
  const std::string path = std::string{CLUSTERSIM_SOURCE_DIR} + "/configs/" + name + ".toml";
  const auto scenario = load_scenario(path, shipped_catalogue(), {settings}, diagnostics);
  REQUIRE_MESSAGE(scenario.has_value(), render(diagnostics, false));
  return *scenario;
}

} // namespace clustersim::test
