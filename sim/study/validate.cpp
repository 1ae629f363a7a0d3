#include "study/validate.hpp"

#include "analysis/explain.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "engine/analytic.hpp"
#include "foreign/csv.hpp"
#include "plan/lower.hpp"
#include "plan/memory.hpp"
#include "study/collective_evidence.hpp"
#include "study/error_figures.hpp"
#include "study/evidence.hpp"
#include "study/kernel_evidence.hpp"
#include "study/parallel.hpp"
#include "study/resolver_rules.hpp"
#include "study/row_reader.hpp"
#include "study/training_run_resolver.hpp"
#include "study/validate_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

namespace clustersim {
namespace {

constexpr double gibibyte = 1024.0 * 1024.0 * 1024.0;

// Times and rates beyond these are slips; within them every ratio is finite.
constexpr double least_measured = 1e-12, most_measured = 1e15;

/// A table as read, and the same rows under the columns of training runs.
struct Evidence {
  const CsvTable* table;
  const CsvTable* runs;
  const EvidenceKind* kind;
};

RowLabels labels_of(const Evidence& evidence, std::size_t row) {
  const CsvTable& table = *evidence.runs;
  const bool translated = !evidence.kind->translation.empty();
  RowLabels labels;
  labels.source = printable(table.at(row, "source"));
  labels.chip = printable(table.at(row, translated ? "chip" : evidence.kind->chip_column));
  labels.precision = printable(table.at(row, "precision"));
  if (const auto chips = number_from(table.at(row, "num_chips"))) {
    labels.scale = scale_of(*chips);
  }
  if (evidence.kind->collective) {
    labels.system = printable(table.at(row, "system"));
    labels.work = printable(table.at(row, "collective"));
    labels.scale = scale_of(number_from(table.at(row, "ranks")).value_or(1));
    labels.size = size_of(Bytes{number_from(table.at(row, "bytes")).value_or(0)});
  }
  if (table.column("core")) {
    labels.core = table.at(row, "core") == "1" ? "core" : "other";
  }
  return labels;
}

/// One entry per quantity that the row states, a slip of the pen included; a row that states
/// nothing keeps its first.
std::vector<ValidatedRow> empty_entries(const Evidence& evidence, std::size_t row) {
  ValidatedRow entry;
  entry.index = static_cast<std::int64_t>(row);
  entry.id = printable(evidence.runs->at(row, "id"));
  entry.labels = labels_of(evidence, row);
  std::vector<ValidatedRow> entries;
  for (const MeasuredColumn& column : evidence.kind->measured) {
    entry.quantity = column.quantity;
    entry.unit = column.unit;
    const std::string_view cell = evidence.table->at(row, column.column);
    entry.reason = bad_number(column.column, cell);
    entry.measured = number_from(cell);
    if (entry.measured) {
      *entry.measured *= column.scale;
      if (!(*entry.measured >= least_measured && *entry.measured <= most_measured)) {
        entry.reason = fmt::format("{} is no plausible measurement", column.column);
        entry.measured.reset();
      }
    }
    if (!cell.empty()) {
      entries.push_back(entry);
    }
  }
  if (entries.empty()) {
    entry.quantity = evidence.kind->measured.front().quantity;
    entry.unit = evidence.kind->measured.front().unit;
    entry.reason = fmt::format("no {} is measured", evidence.kind->measured.front().column);
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool is_measured(const ValidatedRow& entry) {
  return entry.measured.has_value();
}

bool any_measured(const std::vector<ValidatedRow>& entries) {
  return std::any_of(entries.begin(), entries.end(), is_measured);
}

void settle(std::vector<ValidatedRow>& entries, RowStatus status, const std::string& reason) {
  for (ValidatedRow& entry : entries) {
    if (is_measured(entry)) {
      entry.status = status;
      entry.reason = reason;
    }
  }
}

/// Peak as the row's figure counts it: what an allocator hands out, what it holds, or all that the
/// driver sees taken.
Bytes memory_at(const MemoryFootprint& memory, MemoryLevel level) {
  switch (level) {
  case MemoryLevel::allocator:
    return memory.peak;
  case MemoryLevel::reserved:
    return memory.peak + memory.cached;
  case MemoryLevel::driver:
    return memory.peak + memory.reserve;
  }
  return memory.peak;
}

/// What `run` finds (sim/pipeline.cpp).
void predict(std::vector<ValidatedRow>& entries, const ResolvedRun& run) {
  const Scenario& scenario = *run.scenario;
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const StepProgram program = lower(scenario);
  const Timeline timeline = run_analytic(program, cost);
  const StepRange range = step_range(scenario, program, network, timeline);
  const MemoryFootprint memory = memory_footprint(scenario);
  for (ValidatedRow& entry : entries) {
    if (!is_measured(entry)) {
      continue;
    }
    if (entry.quantity == "step_time") {
      entry.predicted = timeline.step.si();
      entry.low = range.low.si();
      entry.high = range.high.si();
    } else {
      entry.predicted = memory_at(memory, run.composed.memory_level).si() / gibibyte;
    }
    entry.ratio = *entry.predicted / *entry.measured;
    entry.status = RowStatus::ok;
    entry.reason.clear();
    if (!memory.fits()) {
      entry.assumptions.push_back(fmt::format("it ran, although the model finds {} short of memory",
                                              format_binary(-memory.margin())));
    }
  }
}

struct Study {
  const Catalogue* catalogue;
  const ResolverRules* rules;
};

std::vector<ValidatedRow> validate_training_run(const Evidence& evidence, std::size_t row,
                                                const Study& study) {
  std::vector<ValidatedRow> entries = empty_entries(evidence, row);
  if (!any_measured(entries)) {
    return entries;
  }
  try {
    const ResolvedRun run =
        resolve_training_run(*evidence.runs, row, *study.rules, *study.catalogue);
    for (ValidatedRow& entry : entries) {
      entry.assumptions = run.composed.assumptions;
      entry.labels.stack = run.composed.stack;
    }
    if (run.scenario) {
      predict(entries, run);
    } else {
      settle(entries, run.composed.status, run.composed.reason);
    }
  } catch (const std::exception& error) {
    // A row that breaks us must not hide the others: it is counted as failed, with the reason.
    settle(entries, RowStatus::failed, error.what());
  }
  return entries;
}

std::vector<ValidatedRow> skip_row(const Evidence& evidence, std::size_t row) {
  std::vector<ValidatedRow> entries = empty_entries(evidence, row);
  if (!any_measured(entries)) {
    return entries;
  }
  settle(entries, RowStatus::skipped,
         fmt::format("{}: not predicted by this version", evidence.kind->name));
  return entries;
}

/// Collectives are answered together, since rows that differ in size alone are one question.
ValidatedFile validate_collectives(const Evidence& evidence, const Study& study,
                                   const ValidateOptions& options, Diagnostics& out) {
  ValidatedFile file{evidence.table->path, std::string(evidence.kind->name), {}};
  const auto predictions =
      predict_collectives(*evidence.runs, *study.catalogue, options.threads, out);
  for (std::size_t row = 0; predictions && row < predictions->size(); ++row) {
    const CollectivePrediction& predicted = (*predictions)[row];
    for (ValidatedRow& entry : empty_entries(evidence, row)) {
      entry.id = predicted.id;
      if (entry.measured) {
        entry.status = predicted.status;
        entry.reason = predicted.reason;
        entry.assumptions = predicted.assumptions;
        entry.predicted = predicted.seconds;
        if (predicted.seconds) entry.ratio = *predicted.seconds / *entry.measured;
      }
      file.rows.push_back(std::move(entry));
    }
  }
  return file;
}

ValidatedFile validate_table(const CsvTable& table, const EvidenceKind& kind, const Study& study,
                             const ValidateOptions& options, Diagnostics& out) {
  const CsvTable runs = translated(table, kind);
  const Evidence evidence{&table, &runs, &kind};
  if (kind.collective) {
    return validate_collectives(evidence, study, options, out);
  }
  const std::size_t rows = table.rows.size();
  std::vector<std::vector<ValidatedRow>> entries(rows);
  // Each row is a function of its own fields alone and has its own place in `entries`.
  in_parallel(threads_for(options.threads), 0, rows, [&](std::size_t row) {
    entries[row] =
        kind.predicted ? validate_training_run(evidence, row, study) : skip_row(evidence, row);
  });
  ValidatedFile file{table.path, std::string(kind.name), {}, {}, {}};
  for (std::vector<ValidatedRow>& of_row : entries) {
    std::move(of_row.begin(), of_row.end(), std::back_inserter(file.rows));
  }
  return file;
}

void complain_unknown(const CsvTable& table, Diagnostics& out) {
  const NearestKind nearest = nearest_kind(table);
  Diagnostic diagnostic;
  diagnostic.where = {table.path, 1, 1};
  diagnostic.message = "the header names no known kind of evidence";
  diagnostic.suggestion = fmt::format("nearest is '{}', which also needs: {}", nearest.kind->name,
                                      fmt::join(nearest.missing, ", "));
  out.add(std::move(diagnostic));
}

} // namespace

ValidationReport validate(const std::vector<std::string>& paths, const Catalogue& catalogue,
                          const ValidateOptions& options, Diagnostics& out) {
  ValidationReport report;
  const std::optional<ResolverRules> rules = load_resolver_rules("training-runs", catalogue, out);
  if (!rules) {
    return report;
  }
  for (const std::string& path : paths) {
    const std::optional<CsvTable> table = read_csv(path, out);
    if (!table) {
      continue;
    }
    const EvidenceKind* kind = recognise(*table);
    if (kind == nullptr) {
      complain_unknown(*table, out);
    } else if (!is_kernel_kind(*kind)) {
      report.files.push_back(validate_table(*table, *kind, {&catalogue, &*rules}, options, out));
    } else if (std::optional<ValidatedFile> file =
                   validate_kernels(*table, *kind, catalogue, out)) {
      report.files.push_back(std::move(*file));
    }
  }
  summarise(report);
  return report;
}

} // namespace clustersim
