#pragma once
// One row of published training runs → the scenario that `run` would read (docs/validation.md).
//
// Columns that a scenario key matches one to one are copied; the rest (node, fabric, stack, model
// family, what a note implies) follows models/resolver/training-runs.csv. Arithmetic that is no
// rule:
//
//   chips of a node   the largest divisor of the job's chips that the node holds
//   nodes             chips / chips of a node
//   data parallelism  chips / (tensor · pipeline · context)

#include "base/diagnostic.hpp"
#include "foreign/csv.hpp"
#include "spec/catalogue.hpp"
#include "spec/scenario.hpp"
#include "study/resolver_rules.hpp"
#include "study/validate.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// What a published memory figure counts (docs/explanation/memory.md).
enum class MemoryLevel { allocator, reserved, driver };

/// Scenario text of a row, or why there is none. `status` is ok or skipped.
struct ComposedRun {
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::string text; // TOML
  std::string stack;
  std::vector<std::string> assumptions;
  MemoryLevel memory_level = MemoryLevel::allocator;
};

[[nodiscard]] ComposedRun compose_training_run(const CsvTable& table, std::size_t row,
                                               const ResolverRules& rules,
                                               const Catalogue& catalogue);

/// The composed text through the input layer; `failed` with the first complaint when it does not
/// load.
struct ResolvedRun {
  ComposedRun composed;
  std::optional<Scenario> scenario;
};

[[nodiscard]] ResolvedRun resolve_training_run(const CsvTable& table, std::size_t row,
                                               const ResolverRules& rules,
                                               const Catalogue& catalogue);

} // namespace clustersim
