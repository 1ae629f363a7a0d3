#pragma once
// Internal to this folder: readings of one workload at several power caps. Each is compared with
// the reading at the highest cap of the same workload on the same chip.

#include "study/kernel_evidence.hpp"

#include <vector>

namespace clustersim {

[[nodiscard]] std::vector<KernelRow> capped_rows(const CsvTable& table, const ResolverRules& rules,
                                                 const Catalogue& catalogue);

} // namespace clustersim
