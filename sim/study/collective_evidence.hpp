#pragma once
// Published collectives, one timed call a row, predicted as `collective` answers them
// (docs/validation.md). What a row's words mean is data: models/resolver/collectives.csv, in the
// form of study/resolver_rules.hpp:
//
//   skip       why the row is no collective of the network (`says`)
//   algorithm  the one that the row forces; else the automatic choice
//   host       time from the host that every call of this way of timing holds: "15 us"
//   and the words of study/named_system.hpp
//
// Columns: system, collective, ranks, nodes, bytes, library, condition.

#include "base/diagnostic.hpp"
#include "foreign/csv.hpp"
#include "spec/catalogue.hpp"
#include "study/evidence.hpp"
#include "study/validate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

/// What this version makes of one row.
struct CollectivePrediction {
  RowStatus status = RowStatus::skipped;
  std::string reason;
  std::optional<double> seconds;
  std::vector<std::string> assumptions;
  std::string id; // "h100x8_nvswitch all_reduce 8 ranks 1 GiB"
};

/// All rows of a table, in order; nothing, with a diagnostic, when the rules cannot be read.
[[nodiscard]] std::optional<std::vector<CollectivePrediction>>
predict_collectives(const CsvTable& table, const Catalogue& catalogue, int threads,
                    Diagnostics& out);

} // namespace clustersim
