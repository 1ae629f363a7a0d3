#include "study/validate_kernels.hpp"

#include "base/text.hpp"
#include "study/kernel_evidence.hpp"
#include "study/kernel_prediction.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>
#include <variant>

namespace clustersim {
namespace {

/// Chips by id, each loaded once; a chip whose file is broken keeps the complaint.
class Chips {
public:
  explicit Chips(const Catalogue& catalogue) : catalogue_(&catalogue) {}

  const std::variant<Chip, std::string>& at(const std::string& id) {
    const auto found = loaded_.find(id);
    return found != loaded_.end() ? found->second : loaded_.emplace(id, load(id)).first->second;
  }

private:
  [[nodiscard]] std::variant<Chip, std::string> load(const std::string& id) const {
    Diagnostics complaints;
    std::optional<Chip> chip = load_chip(*catalogue_, id, complaints);
    if (chip) {
      return std::move(*chip);
    }
    const std::vector<Diagnostic> sorted = complaints.sorted();
    return sorted.empty() ? "chip '" + id + "' cannot be loaded" : sorted.front().message;
  }

  const Catalogue* catalogue_;
  std::map<std::string, std::variant<Chip, std::string>> loaded_;
};

void fail(ValidatedRow& entry, RowStatus status, std::string reason) {
  entry.status = status;
  entry.reason = std::move(reason);
}

void predict(ValidatedRow& entry, const MeasuredKernel& kernel, const Chip& chip) {
  const KernelPrediction prediction = predict_kernel(kernel, chip);
  if (const std::string* reason = std::get_if<std::string>(&prediction)) {
    fail(entry, RowStatus::skipped, *reason);
    return;
  }
  entry.status = RowStatus::ok;
  entry.predicted = std::get<double>(prediction);
  entry.ratio = *entry.predicted / kernel.measured;
}

/// Small products are bound by start and memory, large ones by the matrix units: two questions.
std::string size_of(const MeasuredKernel& kernel) {
  const auto* gemm = std::get_if<GemmShape>(&kernel.work.back());
  if (gemm == nullptr) {
    return {};
  }
  constexpr double large = 50e9;
  const double flops = 2.0 * static_cast<double>(gemm->batch) * static_cast<double>(gemm->m) *
                       static_cast<double>(gemm->n) * static_cast<double>(gemm->k);
  return std::min({gemm->m, gemm->n, gemm->k}) < 256 ? "< 256"
         : flops > large                             ? "> 50 GFLOP"
                                                     : ">= 256";
}

ValidatedRow validated(KernelRow&& row, const EvidenceKind& kind, Chips& chips) {
  ValidatedRow entry;
  entry.id = std::move(row.id);
  entry.quantity = kind.measured.front().quantity;
  entry.unit = kind.measured.front().unit;
  entry.labels.chip = std::move(row.chip);
  entry.labels.precision = std::move(row.precision);
  entry.labels.library = std::move(row.library);
  entry.labels.condition = std::move(row.condition);
  if (!row.kernel) {
    fail(entry, RowStatus::skipped, std::move(row.reason));
    return entry;
  }
  entry.measured = row.kernel->measured;
  entry.labels.size = size_of(*row.kernel);
  entry.assumptions = row.kernel->assumptions;
  const std::variant<Chip, std::string>& chip = chips.at(row.kernel->chip);
  if (const std::string* complaint = std::get_if<std::string>(&chip)) {
    fail(entry, RowStatus::failed, *complaint);
    return entry;
  }
  try {
    predict(entry, *row.kernel, std::get<Chip>(chip));
  } catch (const std::exception& error) {
    // A row that breaks us must not hide the others: it is counted as failed, with the reason.
    fail(entry, RowStatus::failed, error.what());
  }
  return entry;
}

} // namespace

std::optional<ValidatedFile> validate_kernels(const CsvTable& table, const EvidenceKind& kind,
                                              const Catalogue& catalogue, Diagnostics& out) {
  const std::optional<ResolverRules> rules = load_kernel_rules(kind, catalogue, out);
  if (!rules) {
    return std::nullopt;
  }
  Chips chips(catalogue);
  ValidatedFile file{table.path, std::string(kind.name), {}, {}, {}};
  for (KernelRow& row : kernel_rows(table, kind, *rules, catalogue)) {
    ValidatedRow entry = validated(std::move(row), kind, chips);
    entry.index = static_cast<std::int64_t>(file.rows.size());
    entry.labels.source = printable(table.at(file.rows.size(), "source"));
    file.rows.push_back(std::move(entry));
  }
  return file;
}

} // namespace clustersim
