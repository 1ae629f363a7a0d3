#pragma once
// The kinds of published evidence, recognised by their header line: one row of a table each.

#include "foreign/csv.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// A column that holds something measured.
struct MeasuredColumn {
  std::string_view column;
  std::string_view quantity; // of clustersim.validate/1
  std::string_view unit;     // that the report uses
  double scale = 1.0;        // column · scale is in `unit`
};

struct EvidenceKind {
  std::string_view name;
  std::vector<std::string_view> header; // all of these columns name the kind
  std::vector<MeasuredColumn> measured;
  std::string_view chip_column; // empty when there is none
  bool predicted = false;       // by this version
};

[[nodiscard]] const std::vector<EvidenceKind>& evidence_kinds();

/// The kind whose columns are all there; the first in table order.
[[nodiscard]] const EvidenceKind* recognise(const CsvTable& table);

/// For a message: the kind that misses fewest columns, and which.
struct NearestKind {
  const EvidenceKind* kind = nullptr;
  std::vector<std::string> missing;
};
[[nodiscard]] NearestKind nearest_kind(const CsvTable& table);

} // namespace clustersim
