#pragma once
// Kernel constants of a chip family (models/calibrations/*.toml), overridable per chip. All are
// (cal) in the sense of docs/explanation/calibration.md: fitted on published microbenchmarks,
// source beside each. None is adjusted to training runs; the page says which were chosen with them
// in sight.

#include "base/precision.hpp"
#include "base/quantity.hpp"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

struct Tile {
  int rows = 0;    // of the output, M direction
  int columns = 0; // N direction
};

/// Kernels of one library at one precision, where they differ from the family's: another rate, or
/// operands quantised in the same timed call. Absent figures are the family's.
struct GemmLibrary {
  std::string name; // "trtllm", "trtllm-block128": what the evidence calls for
  Precision precision = Precision::bf16;
  std::optional<double> unit, sustained, burst; // as the family's tables
  std::optional<Seconds> start;                 // launches of the quantisation included
  double cast = 0; // share of DRAM bandwidth at which A is read in 16 bits and written quantised;
                   // 0 = it comes quantised
};

/// Grouped products (experts) against a batch of equal ones, by role.
struct GroupedRate {
  double forward = 1.0, data_gradient = 1.0, weight_gradient = 1.0;
};

struct GemmCalibration {
  PrecisionTable<double> sustained; // e: share of the dense peak under a training-like load
  PrecisionTable<double> burst;     // same, few replays on a cool chip (microbenchmark `condition`)
  PrecisionTable<double> loop;      // same, framework loops on a whole busy node
  PrecisionTable<double> unit;      // share of its peak that a compute unit reaches at full clock
  Seconds boost;                    // time constant in which burst falls to sustained
  Seconds loop_boost;               // the same in such loops, whose chips are warm already
  double easy_data = 1.0;           // rate within power on unrandomised data, against random
  double still_data = 1.0;          // the same on zeros and low-toggle patterns
  double ceiling = 0.9;             // share of peak a GEMM reaches when power does not limit it
  Seconds start;                    // t0: start and drain of a GEMM kernel
  double memory_fraction = 0.8;     // h: share of DRAM bandwidth a GEMM reaches
  int extra_k = 128;                // k0: prologue and epilogue expressed as extra K
  Seconds split_start;              // one more pass over partial sums when K is split
  std::vector<Tile> tiles;          // the library's menu
  double l2_reuse = 1.0;            // compute units fed by one fetch from L2 (clusters, multicast)
  GroupedRate grouped;              // experts of unequal size
  double sparse = 0.85; // of the doubled 2:4 rate that a sparse product reaches, against dense
  std::vector<GemmLibrary> libraries;
  int systolic = 0; // array edge of a systolic chip (TPU MXU): pads, no waves; 0 = none
  double weight_gradient_rate = 0.95; // wgrad (NT, FP32 accumulate into the output) against forward
  int alignment = 64;                 // dimensions not a multiple of this are padded up (elements)
};

/// One attention kernel generation on this family: share of the dense 16-bit matrix peak.
struct AttentionRate {
  std::string kernel;            // "flash-2", "cudnn", "flash-3", "splash"
  std::map<int, double> forward; // by head dim; interpolated between, clamped outside
  std::map<int, double> backward;
  Seconds start; // start and drain of this kernel
  Seconds wave;  // per wave of query blocks: prologue and epilogue
};

/// Classes of memory-bound kernels; each reaches its own share of DRAM bandwidth.
enum class KernelClass {
  elementwise,
  norm,
  activation,
  softmax,
  optimizer,
  loss,
  rope,
  permute,
  cast,
  gather
};
inline constexpr std::size_t kernel_class_count = 10;

[[nodiscard]] std::string_view name_of(KernelClass kernel_class);
[[nodiscard]] std::optional<KernelClass> kernel_class_from(std::string_view name);

/// Kernels of one class as one library wrote them (vLLM 2023, eager PyTorch), where they were
/// measured (docs/explanation/memory-bound.md, "libraries").
struct MemoryLibrary {
  std::string name;
  KernelClass kernel_class = KernelClass::elementwise;
  double fraction = 1.0; // most of DRAM bandwidth that they reach
  double unit_bytes = 0; // most that a compute unit moves per clock; 0 = no such limit
  double resident = 1.0; // rate on tensors that fit in L2, against DRAM
  bool serial = false;   // several passes, some bound by the units, others by DRAM: times add up
  Seconds start;         // start and drain, and what the host does before it
  Seconds floor;         // least time of a call timed from the host
};

/// Share of DRAM bandwidth that memory-bound kernels reach at large sizes.
struct MemoryCalibration {
  double l2_copy = 0.6; // share of the L2 read bandwidth that a copy within L2 reaches
  double copy = 0.85;   // plain copy: as many bytes written as read
  double stream = 0.95; // reads alone or writes alone: the bus never turns around
  std::array<double, kernel_class_count> classes{}; // by KernelClass
  Bytes half_size; // n_half: bytes at which half of that is reached
  Seconds start;   // start and drain of a small kernel
  std::vector<MemoryLibrary> libraries;
};

struct LaunchCalibration {
  Seconds stream_gap; // between dependent kernels of a stream
  Seconds graph_gap;  // inside a captured graph
};

/// How the clock of a matrix load follows its power budget (docs/explanation/power.md):
///   f/f_sustained = ((cap - fixed · TDP) / peak / (the same of the reference board at its
///   TDP))^(1/exponent)
/// `sustained` and `burst` were measured on the reference board, so there the ratio is 1; a board
/// of the family with more watts per peak FLOP/s clocks higher, up to `gemm.ceiling`, one with
/// fewer lower.
struct PowerCalibration {
  double fixed = 0.25;           // share of TDP that does not follow the core clock
  double exponent = 1.5;         // f · V(f)^2 as one power of f
  double minimum_clock = 0.2;    // lowest clock a cap can force, share of f_sustained
  Watts reference_tdp;           // of the board that was measured; 0 = every board is its own
  FlopsPerSecond reference_peak; // its dense 16-bit (or widest) matrix peak
  JoulesPerByte dram{120e-12};   // of DRAM traffic, its way through the chip included
  JoulesPerFlop vector{6e-12};   // outside the matrix units, at the clock of the peaks
  double l2 = 0.33;              // share of TDP that L2 traffic at its full rate adds to idle
};

/// How far measurements scatter about the laws: one standard deviation of ln(measured / predicted).
/// The range of a step time follows from it (docs/explanation/uncertainty.md).
struct CalibrationSpread {
  double matrix = 0.12; // GEMM and attention
  double memory = 0.2;  // memory-bound kernels
  double launch = 0.3;  // gaps, dispatch by the host
};

struct KernelCalibration {
  std::string id; // "hopper"
  std::string name;
  std::string basis; // "measured on this chip" or "constants of its family"
  GemmCalibration gemm;
  std::vector<AttentionRate> attention;
  MemoryCalibration memory;
  LaunchCalibration launch;
  PowerCalibration power;
  CalibrationSpread spread;
};

} // namespace clustersim
