#include "study/evidence.hpp"

#include "study/resolver_rules.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace clustersim {
namespace {

EvidenceKind training_runs() {
  return {"training runs",
          {"id", "chip", "num_chips", "layers", "hidden", "seq_len", "global_batch_seqs",
           "step_time_s"},
          {{"step_time_s", "step_time", "s"}, {"peak_memory_gb", "peak_memory", "GiB"}},
          "chip",
          true};
}

/// vTrain's measured steps, one node and several (VIA-Research/vTrain, data/ground_truth_*.csv).
EvidenceKind vtrain() {
  return {"vtrain",
          {"tp", "dp", "pp", "micro_batch", "hidden", "layers", "measured_iter_ms"},
          {{"measured_iter_ms", "step_time", "s", 1e-3}},
          "gpu",
          true,
          {{"id", "tp{tp}-pp{pp}-dp{dp}-h{hidden}-l{layers}-b{micro_batch}-g{global_batch}"},
           {"source", "{source}"},
           {"framework", "Megatron-LM"},
           {"model_name", "gpt"},
           {"chip", "{gpu}"},
           {"num_chips", "{num_gpus}"},
           {"chips_per_node", "8"},
           {"precision", "fp16"},
           {"layers", "{layers}"},
           {"hidden", "{hidden}"},
           {"heads", "{heads}"},
           {"vocab", "51200"}, // GPT-2's, padded as Megatron pads it
           {"seq_len", "{seq_len}"},
           {"tp", "{tp}"},
           {"pp", "{pp}"},
           {"dp", "{dp}"},
           {"zero_or_fsdp_stage", "0"},
           {"recompute", "full"}, // use_checkpoint=true in every configuration
           {"micro_batch", "{micro_batch}"},
           {"global_batch_seqs", "{global_batch}"},
           {"step_time_s", "{measured_iter_ms}"}}}; // asked only whether it is there
}

/// What other simulators predicted beside what was measured.
std::vector<EvidenceKind> peers() {
  return {{"simumax",
           {"case", "num_gpus", "measured_step_ms", "measured_peak_alloc_gib"},
           {{"measured_step_ms", "step_time", "s", 1e-3},
            {"measured_peak_alloc_gib", "peak_memory", "GiB"}},
           "gpu"},
          {"calculon",
           {"paper_item", "metric", "measured", "calculon_predicted"},
           {{"measured", "step_time", "s"}},
           "gpu"},
          {"operator efficiency",
           {"op", "peak_tflops", "measured_efficiency"},
           {{"measured_efficiency", "relative_performance", "of peak"}},
           "gpu"}};
}

/// nccl-tests and the like, and the all-reduces that vTrain profiled inside one node.
std::vector<EvidenceKind> collectives() {
  return {{"collectives",
           {"system", "collective", "ranks", "bytes", "time_us"},
           {{"time_us", "time", "s", 1e-6}},
           "",
           false,
           {},
           true},
          {"all-reduce",
           {"gpu", "num_gpus", "bytes", "time_ns"},
           {{"time_ns", "time", "s", 1e-9}},
           "gpu",
           false,
           {{"source", "{source}"},
            {"system", "{gpu}x8_nvlink"}, // vTrain profiled nodes of eight
            {"collective", "all_reduce"},
            {"ranks", "{num_gpus}"},
            {"nodes", "1"},
            {"bytes", "{bytes}"},
            {"library", "NCCL"}},
           true}};
}

std::vector<EvidenceKind> microbenchmarks() {
  const std::vector<MeasuredColumn> time{{"time_us", "time", "s", 1e-6}};
  return {{"attention",
           {"chip", "seqlen", "heads", "head_dim_qk", "direction", "time_us"},
           time,
           "chip"},
          {"gemm", {"chip", "precision", "M", "N", "K", "time_us"}, time, "chip"},
          {"kernels", {"chip", "kernel", "bytes_moved", "time_us"}, time, "chip"},
          {"membw",
           {"chip", "level", "kernel", "measured"},
           {{"measured", "bandwidth", "GB/s"}},
           "chip"},
          {"power",
           {"chip", "workload", "power_cap_w", "perf"},
           {{"rel_perf", "relative_performance", "of uncapped"}},
           "chip"}};
}

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
  static const std::vector<EvidenceKind> kinds = [] {
    std::vector<EvidenceKind> all{training_runs(), vtrain()};
    for (std::vector<EvidenceKind> more : {peers(), collectives(), microbenchmarks()}) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    }
    return all;
  }();
  return kinds;
}

const EvidenceKind* recognise(const CsvTable& table) {
  const std::vector<EvidenceKind>& kinds = evidence_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const EvidenceKind& kind) {
    return missing_columns(kind, table).empty();
  });
  return found == kinds.end() ? nullptr : &*found;
}

CsvTable translated(const CsvTable& table, const EvidenceKind& kind) {
  if (kind.translation.empty()) {
    return table;
  }
  CsvTable runs{table.path, {}, {}};
  for (const TranslatedColumn& column : kind.translation) {
    runs.header.emplace_back(column.column);
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    CsvRow one{{}, table.rows[row].line};
    for (const TranslatedColumn& column : kind.translation) {
      one.fields.push_back(fill(column.pattern, table, row).value_or(""));
    }
    runs.rows.push_back(std::move(one));
  }
  return runs;
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
