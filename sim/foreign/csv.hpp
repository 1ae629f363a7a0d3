#pragma once
// Comma-separated values as RFC 4180 has them: quoted fields may hold commas, doubled quotes and
// line ends; lines end in LF or CRLF; a UTF-8 byte order mark is skipped. Lines that are empty or
// start with
// '#' are no rows. Everything else that is not a rectangle of text is a diagnostic.

#include "base/diagnostic.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct CsvLimits {
  std::size_t bytes = std::size_t{64} << 20U; // of the whole file
  std::size_t rows = 1'000'000;
  std::size_t columns = 1'000;
  std::size_t field_bytes = std::size_t{1} << 20U;
};

struct CsvRow {
  std::vector<std::string> fields; // as many as the header
  std::size_t line = 0;            // where the row starts, 1-based
};

struct CsvTable {
  std::string path;
  std::vector<std::string> header; // trimmed, unique, not empty
  std::vector<CsvRow> rows;

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// Trimmed; empty when the table has no such column.
  [[nodiscard]] std::string_view at(std::size_t row, std::string_view name) const;
};

/// Nothing when the text is no rectangular table; `out` then says where and why.
[[nodiscard]] std::optional<CsvTable> parse_csv(std::string_view text, const std::string& name,
                                                Diagnostics& out, const CsvLimits& limits = {});
[[nodiscard]] std::optional<CsvTable> read_csv(const std::string& path, Diagnostics& out,
                                               const CsvLimits& limits = {});

/// A finite number, the whole text being used; nothing otherwise.
[[nodiscard]] std::optional<double> number_from(std::string_view text);

} // namespace clustersim
