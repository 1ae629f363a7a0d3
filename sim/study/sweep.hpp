#pragma once
// `sweep`: one scenario at every combination of some keys' values. Each point goes through the same
// pipeline as `run`; points do not depend on each other, so their order and the number of threads
// change nothing.

#include "base/diagnostic.hpp"
#include "base/range.hpp"
#include "foreign/csv.hpp"
#include "spec/catalogue.hpp"
#include "spec/load.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct SweepAxis {
  std::string key;                 // as for --set
  std::vector<std::string> values; // as for --set
};

/// "tp=1,2,4", "seq=2k..128k:x2", "power.cap=300 W..700 W:+50 W", "recompute=none,full". Commas
/// inside quotes and brackets belong to the value. Nothing with an error.
[[nodiscard]] std::optional<SweepAxis> parse_sweep_axis(std::string_view text, RangeError& error);

inline constexpr std::size_t most_sweep_points = 10'000;

/// One result of a point, in SI units: plain numbers because a table holds them all alike.
struct SweepMetric {
  std::string_view name, column, title; // "step_time", "step_time_s", "step time"
};
inline constexpr std::array sweep_metrics{
    SweepMetric{"step_time", "step_time_s", "step time"},
    SweepMetric{"tokens_per_s", "tokens_per_s", "tokens/s"},
    SweepMetric{"tokens_per_s_per_chip", "tokens_per_s_per_chip", "tokens/s per chip"},
    SweepMetric{"flops_per_chip", "flops_per_s_per_chip", "model FLOP/s per chip"},
    SweepMetric{"mfu", "mfu", "MFU"},
    SweepMetric{"hfu", "hfu", "HFU"},
    SweepMetric{"memory", "memory_bytes", "memory"},
    SweepMetric{"energy", "energy_per_token_j", "energy per token"}};

enum class PointStatus { ok, oom, refused, missing };
[[nodiscard]] std::string_view name_of(PointStatus status); // "ok", "oom", "n/a", ""

struct SweepPoint {
  std::vector<std::string> values; // one per axis
  PointStatus status = PointStatus::missing;
  std::string reason; // of what is not ok
  std::string inputs; // fingerprint of all that the scenario resolved to; empty when refused
  std::array<std::optional<double>, sweep_metrics.size()> results; // oom has its memory alone
};

struct Sweep {
  std::string title;
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points; // the last axis varies fastest
  std::size_t reused = 0;
  bool interrupted = false;
};

struct SweepQuestion {
  std::string path;
  const Catalogue* catalogue = nullptr;
  LoadOptions loading;
  std::vector<SweepAxis> axes;
  std::string version; // of the program: results of another are not taken over
  int threads = 0;     // 0 = as many as the machine offers
  std::function<bool()> stop = {};
};

/// Nothing with an error when there are too many points or a key is varied twice.
[[nodiscard]] std::optional<Sweep> plan_sweep(const std::vector<SweepAxis>& axes,
                                              RangeError& error);

/// Takes over finished points from a table as `sweep` writes it; false when it is of other keys or
/// holds points that this sweep does not have. Whether inputs agree shows when a point is loaded.
[[nodiscard]] bool take_over(Sweep& sweep, const CsvTable& saved, Diagnostics& out);

/// Computes what is missing. False when a point taken over had other inputs; `out` says which.
[[nodiscard]] bool complete(Sweep& sweep, const SweepQuestion& question, Diagnostics& out);

} // namespace clustersim
