#pragma once
// Internal to this folder: tables of microbenchmarks, predicted by the laws themselves.

#include "study/evidence.hpp"
#include "study/validate.hpp"

namespace clustersim {

/// `table` is of a kernel kind (is_kernel_kind). Nothing, with a diagnostic, when its rules are
/// missing.
[[nodiscard]] std::optional<ValidatedFile> validate_kernels(const CsvTable& table,
                                                            const EvidenceKind& kind,
                                                            const Catalogue& catalogue,
                                                            Diagnostics& out);

} // namespace clustersim
