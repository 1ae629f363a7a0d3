#pragma once
// Published microbenchmarks, one row each, as the laws of sim/law know them: GEMM, attention,
// memory-bound kernels, bandwidths, power caps (docs/validation.md). What a row's words mean (its
// library, its condition, its kernel) is data: models/resolver/KIND.csv, in the form of
// study/resolver_rules.hpp.

#include "base/diagnostic.hpp"
#include "foreign/csv.hpp"
#include "law/attention.hpp"
#include "law/gemm.hpp"
#include "law/memory_bound.hpp"
#include "spec/catalogue.hpp"
#include "study/evidence.hpp"
#include "study/resolver_rules.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clustersim {

/// The time between dependent kernels that a timing holds: that of a stream, of a captured graph,
/// or none (a profiler's kernel time).
enum class LaunchGap { none, graph, stream };

/// How a row was measured, beside its shape.
struct KernelSetting {
  Occasion occasion;
  LaunchGap gap = LaunchGap::stream;
  std::optional<Watts> cap;
  std::vector<std::string> attention_kernels; // in order of preference
  friend auto operator<=>(const KernelSetting&, const KernelSetting&) = default;
};

/// A stream of reads and writes, timed without its launch.
struct BandwidthProbe {
  enum class Level { dram, l2 };
  Level level = Level::dram;
  Bytes footprint;      // what is read again and again; 0 = much more than any cache
  double written = 0.5; // share of the traffic
  friend auto operator<=>(const BandwidthProbe&, const BandwidthProbe&) = default;
};

/// One workload at a power cap, against itself without it.
struct CappedWorkload {
  Watts cap;
  std::optional<Watts>
      drawn; // by the same workload at `limit`; absent = what a large product draws
  std::optional<Watts> limit; // cap of the reading it is compared with; absent = TDP
  double core_share = 1.0;    // of its time without the cap, what follows the core clock
  friend auto operator<=>(const CappedWorkload&, const CappedWorkload&) = default;
};

using KernelWork =
    std::variant<GemmShape, AttentionShape, MemoryKernel, BandwidthProbe, CappedWorkload>;

/// A row ready for the laws. `measured` is in seconds, GB/s, or of the uncapped performance, as
/// `quantity` says ("time", "bandwidth", "relative_performance").
struct MeasuredKernel {
  std::size_t row = 0; // of the table, 0-based
  std::string chip;    // id in the catalogue
  KernelSetting setting;
  std::vector<KernelWork> work; // one after the other: times add up
  double measured = 0;
  std::vector<std::string> assumptions;
};

/// A row of a file, usable or not.
struct KernelRow {
  std::string id;                                  // "h100_sxm bf16 4096x4096x4096"
  std::string chip, precision, library, condition; // as the file spells them
  std::optional<MeasuredKernel> kernel;
  std::string reason; // why there is none
};

/// Whether rows of this kind are for the kernel laws.
[[nodiscard]] bool is_kernel_kind(const EvidenceKind& kind);

/// The rules of a kind; nothing, with a diagnostic, when its file is missing or malformed.
[[nodiscard]] std::optional<ResolverRules>
load_kernel_rules(const EvidenceKind& kind, const Catalogue& catalogue, Diagnostics& out);

/// All rows of a table, in order.
[[nodiscard]] std::vector<KernelRow> kernel_rows(const CsvTable& table, const EvidenceKind& kind,
                                                 const ResolverRules& rules,
                                                 const Catalogue& catalogue);

} // namespace clustersim
