#pragma once
// A chip as the kernel laws see it: peaks, bandwidths and constants after the power cap, the
// stack's choices and any what-if scaling.

#include "base/precision.hpp"
#include "spec/chip.hpp"
#include "spec/resources.hpp"
#include "spec/scenario.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace clustersim {

/// How long a chip has been at work: `sustained` is a training step's steady clock, `burst` a
/// microbenchmark of few replays on a cool chip, `loop` a framework's loop over shapes on a node
/// whose chips are all busy (where the family has such a series; else as sustained).
enum class Condition { sustained, burst, loop };

/// What the operands hold: `easy` data (weights left as allocated) switch less and draw less power
/// than random numbers, `still` ones (zeros, low-toggle patterns) least.
enum class OperandData { random, easy, still };

[[nodiscard]] std::string_view name_of(Condition condition);
[[nodiscard]] std::string_view name_of(OperandData data);

/// How a kernel is run, beside its shape.
struct Occasion {
  Condition condition = Condition::sustained;
  OperandData data = OperandData::random;
  std::string
      gemm_library; // an entry of the calibration's; empty or unknown = the family's figures
  std::string memory_library{}; // the same of memory-bound kernels
  friend auto operator<=>(const Occasion&, const Occasion&) = default;
};

/// Rates of GEMMs at one precision. A unit works at the full clock; all of them together are bound
/// by what power allows, which falls from `early` to `steady` with the time constant `boost`.
struct GemmRates {
  FlopsPerSecond unit;          // of the whole chip, all units at full clock
  FlopsPerSecond early, steady; // of the whole chip within its power
  Seconds boost;
  Seconds start;
  JoulesPerFlop energy;       // of matrix work, units at full clock
  BytesPerSecond cast;        // DRAM traffic of quantising A in the same call; 0 = none
  double sparse = 1.0;        // 2:4 against dense
  double accumulate_16 = 1.0; // sums in 16 bits against 32
};

/// What work costs in energy beside the idle power of its board (law/energy.hpp).
struct EnergyRates {
  Watts idle, limit;
  JoulesPerFlop vector;
  JoulesPerByte dram, l2;
};

/// Matrix rates are those of the path a GEMM of that precision takes: its own, or the next one the
/// chip has (path_of). So both tables are filled for every precision that the chip can compute at
/// all.
struct Device {
  int compute_units = 1;
  PrecisionTable<FlopsPerSecond> matrix_peak;      // dense, at the clock the cap leaves
  PrecisionTable<FlopsPerSecond> matrix_sustained; // peak · sustained fraction
  PrecisionTable<GemmRates> gemm_rates;
  PrecisionTable<FlopsPerSecond> vector_peak;
  BytesPerSecond memory; // data-sheet DRAM bandwidth
  BytesPerSecond l2;
  Bytes l2_capacity;
  Seconds gap;              // between kernels, by launch mode
  double start_scale = 1.0; // what-if on start and drain
  double clock = 1.0;       // share of the clock that a full power budget gives
  double board_clock = 1.0; // of matrix loads at TDP, against the calibrated board
  Hertz core_clock;         // the clock behind the peaks, as the cap leaves it; 0 = unknown
  EnergyRates energy;
  double class_factor = 1.0;
  std::string memory_library;
  KernelCalibration kernels;
  std::string attention_kernel; // what this stack runs on this chip, or "unfused"
};

[[nodiscard]] Device make_device(const Chip& chip, const Stack& stack, const PowerLimits& power,
                                 const ResourceScale& scale = {}, const Occasion& occasion = {});
[[nodiscard]] inline Device make_device(const Chip& chip, const Stack& stack,
                                        const PowerLimits& power, const ResourceScale& scale,
                                        Condition condition) {
  return make_device(chip, stack, power, scale, Occasion{condition, OperandData::random, {}});
}

/// Attention as products and a softmax, which every chip can run.
inline constexpr std::string_view unfused_attention = "unfused";

/// The attention kernel that this stack runs on this chip: its first choice that the chip's
/// calibration knows, else unfused. Lowering and pricing both ask here, so they never disagree.
[[nodiscard]] std::string attention_kernel_for(const Chip& chip, const Stack& stack);

/// Clock of a matrix load under `cap`, relative to the one behind the calibration's `sustained`
/// figures, as power alone would set it (docs/explanation/power.md):
///   ((cap - fixed · TDP) / peak / (the same of the reference board))^(1/exponent)
[[nodiscard]] double clock_under_cap(Watts cap, const Chip& chip);

/// What a matrix load switches at the clock of the `sustained` figures, idle power and `fixed`
/// apart.
[[nodiscard]] Watts switching_power(const Chip& chip);

/// What a matrix load draws under `power`: the cap, at most the TDP, at least the power of the
/// lowest clock that a cap can force.
[[nodiscard]] Watts busy_power(const Chip& chip, const PowerLimits& power);

/// The path that matrix work at `wanted` takes on this chip, and its dense peak: its own matrix
/// path, else the nearest that holds the same numbers (fp8 -> bf16, tf32 -> fp32), at last the
/// vector units.
struct MatrixPath {
  Precision precision = Precision::fp32;
  FlopsPerSecond peak;
};
[[nodiscard]] std::optional<MatrixPath> path_of(const Chip& chip, Precision wanted);

/// Which roof an operator's time comes from.
enum class Roof { matrix, vector, l2, memory, launch };
[[nodiscard]] std::string_view name_of(Roof roof);

/// The time of one operator on one chip and its parts. Parts are roofs, not addends:
/// total = gap + start + norm6(matrix, memory, …), see docs/explanation/roofline.md.
struct KernelTime {
  Seconds total;
  Seconds matrix, vector, l2, memory; // each roof alone
  Seconds launch;                     // gap, start and drain: always paid
  Roof binding = Roof::memory;
  Flops flops;           // executed
  Bytes traffic;         // compulsory DRAM traffic
  Joules energy;         // of the board
  FlopsPerSecond peak{}; // dense, of the matrix path that it takes; 0 = none
};

/// The roof that takes longest by itself.
[[nodiscard]] Roof longest_roof(const KernelTime& time);

} // namespace clustersim
