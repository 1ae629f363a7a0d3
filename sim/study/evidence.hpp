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

/// A column of training runs and what stands in it for a table of another form, whose own columns
/// are named in braces.
struct TranslatedColumn {
  std::string_view column, pattern;
};

struct EvidenceKind {
  std::string_view name;
  std::vector<std::string_view> header; // all of these columns name the kind
  std::vector<MeasuredColumn> measured;
  std::string_view chip_column; // empty when there is none
  bool predicted = false;       // by this version, as a training run
  // Empty when the columns are those of training runs, or of collectives where those are predicted.
  std::vector<TranslatedColumn> translation = {};
  bool collective = false; // predicted by this version, as a collective of the network
};

[[nodiscard]] const std::vector<EvidenceKind>& evidence_kinds();

/// The kind whose columns are all there; the first in table order.
[[nodiscard]] const EvidenceKind* recognise(const CsvTable& table);

/// The same rows under the columns of the translation; the table itself when nothing is to
/// translate.
[[nodiscard]] CsvTable translated(const CsvTable& table, const EvidenceKind& kind);

/// For a message: the kind that misses fewest columns, and which.
struct NearestKind {
  const EvidenceKind* kind = nullptr;
  std::vector<std::string> missing;
};
[[nodiscard]] NearestKind nearest_kind(const CsvTable& table);

} // namespace clustersim
