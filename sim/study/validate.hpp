#pragma once
// Predicted beside measured: published runs, one row each, put through the same pipeline as `run`
// (docs/validation.md). Nothing here tunes anything.
//
//   ratio = predicted / measured,   error = ratio − 1,   APE = |error|        (percent)
//
// `failed` is our fault: a row in scope that could not be resolved or run. `skipped` is outside the
// declared scope, or marked by its own source as not for scoring. Both always carry a reason.

#include "base/diagnostic.hpp"
#include "spec/catalogue.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

enum class RowStatus { ok, failed, skipped };
[[nodiscard]] std::string_view name_of(RowStatus status); // "ok", "failed", "skipped"

/// What a row belongs to, for the groups of the report; empty where the file does not say.
struct RowLabels {
  std::string source;    // "megatron-bridge"
  std::string chip;      // as the file spells it
  std::string precision; // "bf16"
  std::string library;   // of kernels, as the file spells it: "FlashAttention-2"
  std::string condition; // of the measurement, as the file spells it: "burst_random"
  std::string size;      // of a GEMM: "> 50 GFLOP", …; of a collective: "< 64 KiB", …
  std::string stack;     // id of the software stack that the row was resolved to
  std::string scale;     // "1", "2-8", "9-64", "65-512", "> 512" chips
  std::string core;      // "core", "other": whether nothing about the row needed guessing
  std::string system;    // of a collective: the machine as the file names it
  std::string work;      // of a microbenchmark: what was timed
};

/// One measured quantity of one row. Times in seconds, sizes in GiB, rates as `unit` says: plain
/// numbers because a column's dimension is known only at run time.
struct ValidatedRow {
  std::int64_t index = 0; // of the data row, 0-based
  std::string id;
  std::string quantity; // "step_time", "peak_memory", "time", "tflops", "bandwidth", …
  std::string unit;     // "s", "GiB", …
  RowStatus status = RowStatus::skipped;
  std::string reason;                                          // empty when ok
  std::optional<double> predicted, low, high, measured, ratio; // predicted only when ok
  std::vector<std::string> assumptions;                        // sentences
  RowLabels labels;
};

/// In percent, over the rows that are ok; absent when there are none.
struct ErrorFigures {
  std::int64_t rows = 0, failed = 0,
               skipped = 0; // rows counts all; scored = rows − failed − skipped
  std::optional<double> mape, median_ape, bias, p90_ape;
  std::optional<double>
      in_range; // share of measurements between low and high; absent without ranges
  [[nodiscard]] std::int64_t scored() const { return rows - failed - skipped; }
};

struct QuantitySummary {
  std::string quantity;
  ErrorFigures figures;
};

struct ErrorGroup {
  std::string
      by; // "source", "chip", "precision", "library", "condition", "stack", "system", "size", …
  std::string name;
  std::string quantity;
  ErrorFigures figures;
};

struct ValidatedFile {
  std::string path;
  std::string kind;                       // "training runs", "gemm", "collectives", "unknown", …
  std::vector<ValidatedRow> rows;         // file order; a row that measures two things stands twice
  std::vector<QuantitySummary> summary{}; // of this file alone
  std::vector<ErrorGroup> groups{};
};

/// `clustersim.validate/1`.
struct ValidationReport {
  std::vector<ValidatedFile> files;     // in the order asked
  std::vector<QuantitySummary> summary; // by quantity, alphabetically
  std::vector<ErrorGroup> groups;       // by (by, quantity, name), `by` in the order above
};

struct ValidateOptions {
  int threads = 0; // 0 = as many as the machine offers; never changes the result
};

/// Reads each file, recognises its kind by its header and predicts what is in scope. Files that
/// cannot be read or parsed become diagnostics and are left out.
[[nodiscard]] ValidationReport validate(const std::vector<std::string>& paths,
                                        const Catalogue& catalogue, const ValidateOptions& options,
                                        Diagnostics& out);

/// Error figures of a set of rows, all of one quantity. Percentiles by linear interpolation.
[[nodiscard]] ErrorFigures error_figures(const std::vector<const ValidatedRow*>& rows);

} // namespace clustersim
