#pragma once
// The fields of `clustersim.report/1`, described once: docs/reference/report.md is written from
// this table, and a test holds it against the JSON of every shipped configuration.

#include <span>
#include <string>
#include <string_view>

namespace clustersim {

struct ReportField {
  std::string_view path; // "results.memory.terms[].bytes"; NAME stands for a key that varies
  std::string_view unit; // empty for texts and plain numbers
  std::string_view meaning;
};

[[nodiscard]] std::span<const ReportField> report_fields();
[[nodiscard]] std::string table_rows(std::span<const ReportField> rows);
[[nodiscard]] std::string reference_report();
/// The same of `clustersim.inference/1`.
[[nodiscard]] std::string reference_inference();

} // namespace clustersim
