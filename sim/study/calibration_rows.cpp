#include "study/calibration_rows.hpp"

#include "study/kernel_prediction.hpp"

#include <fmt/format.h>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

namespace clustersim {
namespace {

constexpr double no_answer = 20; // ln: a constant that leaves a row without a prediction is far off

constexpr std::size_t worth_a_team = 2000; // rows: fewer take less time than waking threads

struct Table {
  CsvTable csv;
  const EvidenceKind* kind = nullptr;
};

std::optional<Table> open_table(const std::string& path, Diagnostics& out) {
  auto csv = read_csv(path, out);
  if (!csv) {
    return std::nullopt;
  }
  const EvidenceKind* kind = recognise(*csv);
  Diagnostic diagnostic;
  diagnostic.where = {path, 1, 1};
  if (kind == nullptr) {
    const NearestKind nearest = nearest_kind(*csv);
    diagnostic.message = "the header names no known kind of evidence";
    diagnostic.suggestion =
        fmt::format("nearest is '{}', which also needs: {}", nearest.kind->name,
                    nearest.missing.empty() ? "nothing" : nearest.missing.front());
  } else if (kind->name == "collectives") {
    diagnostic.message = "collectives tell of links, whose constants calibrate does not fit";
    diagnostic.expected = "measurements of kernels: gemm, attention, kernels, membw or power";
  } else if (!is_kernel_kind(*kind)) {
    diagnostic.message = fmt::format("{}: no constants of a chip follow from these", kind->name);
    diagnostic.expected = "measurements of kernels: gemm, attention, kernels, membw or power";
  } else {
    return Table{std::move(*csv), kind};
  }
  out.add(std::move(diagnostic));
  return std::nullopt;
}

/// Why this row is of no use, or nothing.
std::string complaint_of(const KernelRow& row, const Chip& chip) {
  if (!(row.kernel->measured > 0) || !std::isfinite(row.kernel->measured)) {
    return "nothing is measured";
  }
  const KernelPrediction prediction = predict_kernel(*row.kernel, chip);
  if (const std::string* reason = std::get_if<std::string>(&prediction)) {
    return *reason;
  }
  const double predicted = std::get<double>(prediction);
  return predicted > 0 && std::isfinite(predicted) ? "" : "the laws predict nothing";
}

/// A row that names no chip of the catalogue is another chip's.
bool is_of(const KernelRow& row, const Catalogue& catalogue, const Chip& chip) {
  if (row.kernel) {
    return row.kernel->chip == chip.id;
  }
  const auto found = catalogue.find(Kind::chip, row.chip);
  return found.size() == 1 && found.front()->id == chip.id;
}

void add_table(const Table& table, const ResolverRules& rules, const Catalogue& catalogue,
               const Chip& chip, CalibrationRows& into) {
  CalibratedFile file{table.csv.path, std::string(table.kind->name), 0, 0, 0, {}};
  for (KernelRow& row : kernel_rows(table.csv, *table.kind, rules, catalogue)) {
    const std::int64_t index = file.rows++;
    if (!is_of(row, catalogue, chip)) {
      ++file.other_chips;
      continue;
    }
    const std::string complaint = row.kernel ? complaint_of(row, chip) : row.reason;
    if (!complaint.empty()) {
      ++file.unusable[complaint];
      continue;
    }
    ++file.used;
    CalibratedRow reported;
    reported.file = into.files.size();
    reported.index = index;
    reported.id = std::move(row.id);
    reported.unit = table.kind->measured.front().unit;
    reported.measured = row.kernel->measured;
    into.rows.push_back(std::move(reported));
    into.kernels.push_back(std::move(*row.kernel));
  }
  into.files.push_back(std::move(file));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void gather_points(CalibrationRows& rows) {
  std::map<std::pair<KernelSetting, std::vector<KernelWork>>, std::size_t> known;
  std::vector<std::vector<double>> measured;
  for (const MeasuredKernel& kernel : rows.kernels) {
    const auto [at, is_new] = known.try_emplace({kernel.setting, kernel.work}, rows.points.size());
    if (is_new) {
      rows.points.push_back(kernel);
      measured.emplace_back();
    }
    rows.point_of.push_back(at->second);
    measured[at->second].push_back(std::log(kernel.measured));
  }
  for (std::size_t i = 0; i < measured.size(); ++i) {
    rows.points[i].measured = std::exp(median(measured[i]));
  }
}

} // namespace

std::optional<CalibrationRows> gather_rows(const std::vector<std::string>& paths,
                                           const Catalogue& catalogue, const Chip& chip,
                                           Diagnostics& out) {
  CalibrationRows gathered;
  for (const std::string& path : paths) {
    const std::optional<Table> table = open_table(path, out);
    const std::optional<ResolverRules> rules =
        table ? load_kernel_rules(*table->kind, catalogue, out) : std::nullopt;
    if (rules) {
      add_table(*table, *rules, catalogue, chip, gathered);
    }
  }
  gather_points(gathered);
  return out.has_errors() ? std::nullopt : std::optional(std::move(gathered));
}

std::vector<double> log_ratios(const std::vector<MeasuredKernel>& kernels, const Chip& chip,
                               int threads) {
  std::vector<double> out(kernels.size(), no_answer);
  const int team = kernels.size() < worth_a_team ? 1
                   : threads > 0                 ? threads
                                                 : omp_get_max_threads();
#pragma omp parallel num_threads(team)
  {
    Device device; // of the last setting: neighbours mostly share theirs
    const KernelSetting* made_for = nullptr;
#pragma omp for schedule(static)
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (made_for == nullptr || *made_for != kernels[i].setting) {
        made_for = &kernels[i].setting;
        device = device_for(*made_for, chip);
      }
      const KernelPrediction prediction = predict_kernel(kernels[i], device, chip);
      const double* value = std::get_if<double>(&prediction);
      if (value != nullptr && *value > 0) {
        out[i] = std::log(*value / kernels[i].measured);
      }
    }
  }
  return out;
}

} // namespace clustersim
