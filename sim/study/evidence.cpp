#include "study/evidence.hpp"

#include <algorithm>

namespace clustersim {
namespace {

std::vector<std::string> missing_columns(const EvidenceKind& kind, const CsvTable& table) {
  std::vector<std::string> missing;
  for (const std::string_view column : kind.header) {
    if (!table.column(column)) {
      missing.emplace_back(column);
    }
  }
  return missing;
}

} // namespace

const std::vector<EvidenceKind>& evidence_kinds() {
  static const std::vector<EvidenceKind> kinds{
      {"training runs",
       {"id", "chip", "num_chips", "layers", "hidden", "seq_len", "global_batch_seqs",
        "step_time_s"},
       {{"step_time_s", "step_time", "s"}, {"peak_memory_gb", "peak_memory", "GiB"}},
       "chip",
       true},
      {"vtrain", // single- and multi-node files share a header
       {"tp", "dp", "pp", "micro_batch", "hidden", "layers", "measured_iter_ms"},
       {{"measured_iter_ms", "step_time", "s", 1e-3}},
       "gpu"},
      {"simumax",
       {"case", "num_gpus", "measured_step_ms", "measured_peak_alloc_gib"},
       {{"measured_step_ms", "step_time", "s", 1e-3},
        {"measured_peak_alloc_gib", "peak_memory", "GiB"}},
       "gpu"},
      {"calculon",
       {"paper_item", "metric", "measured", "calculon_predicted"},
       {{"measured", "step_time", "s"}},
       "gpu"},
      {"all-reduce", {"num_gpus", "bytes", "time_ns"}, {{"time_ns", "time", "s", 1e-9}}, "gpu"},
      {"operator efficiency",
       {"op", "peak_tflops", "measured_efficiency"},
       {{"measured_efficiency", "relative_performance", "of peak"}},
       "gpu"},
      {"collectives",
       {"system", "collective", "ranks", "bytes", "time_us"},
       {{"time_us", "time", "s", 1e-6}},
       ""},
      {"attention",
       {"chip", "seqlen", "heads", "head_dim_qk", "direction", "time_us"},
       {{"time_us", "time", "s", 1e-6}},
       "chip"},
      {"gemm",
       {"chip", "precision", "M", "N", "K", "time_us"},
       {{"time_us", "time", "s", 1e-6}},
       "chip"},
      {"kernels",
       {"chip", "kernel", "bytes_moved", "time_us"},
       {{"time_us", "time", "s", 1e-6}},
       "chip"},
      {"memory bandwidth",
       {"chip", "level", "kernel", "measured"},
       {{"measured", "bandwidth", "as the row says"}},
       "chip"},
      {"power",
       {"chip", "workload", "power_cap_w", "perf"},
       {{"rel_perf", "relative_performance", "of uncapped"}},
       "chip"},
  };
  return kinds;
}

const EvidenceKind* recognise(const CsvTable& table) {
  const std::vector<EvidenceKind>& kinds = evidence_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const EvidenceKind& kind) {
    return missing_columns(kind, table).empty();
  });
  return found == kinds.end() ? nullptr : &*found;
}

NearestKind nearest_kind(const CsvTable& table) {
  NearestKind nearest;
  double least = 2.0;
  for (const EvidenceKind& kind : evidence_kinds()) {
    std::vector<std::string> missing = missing_columns(kind, table);
    const double share =
        static_cast<double>(missing.size()) / static_cast<double>(kind.header.size());
    if (share < least) {
      least = share;
      nearest = {&kind, std::move(missing)};
    }
  }
  return nearest;
}

} // namespace clustersim
