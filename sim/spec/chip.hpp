#pragma once
// A chip as sold (models/chips/*.toml). Peaks are dense; bandwidths are per direction.

#include "base/precision.hpp"
#include "base/quantity.hpp"
#include "spec/calibration.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim {

enum class ChipKind { gpu, tpu, accelerator, cpu };

struct ChipPort {
  std::string link; // id of a link
  int count = 0;    // how many of them the chip has (18 for NVLink 4 on H100, 1 for PCIe x16)
};

struct Chip {
  std::string id, name, vendor, architecture;
  ChipKind kind = ChipKind::gpu;
  std::vector<std::string> aliases;
  std::string note;
  std::string released;                  // ISO date
  int compute_units = 1;                 // SM, CU, core or MXU count
  std::optional<Hertz> boost_clock;      // the clock behind the peaks
  PrecisionTable<FlopsPerSecond> matrix; // dense, as used in training: FP32 accumulation
  PrecisionTable<FlopsPerSecond> matrix_accumulate_16; // where 16-bit accumulation is faster
  PrecisionTable<FlopsPerSecond> vector;               // outside the matrix units
  bool structured_sparsity = false;                    // 2:4
  bool unpublished = false; // its maker states no rate: listed, but nothing can be timed on it

  struct Memory {
    std::string type;
    Bytes capacity; // data sheet
    Bytes usable;   // what the driver gives an application
    BytesPerSecond bandwidth;
    bool ecc_inline = false; // ECC takes capacity and bandwidth (GDDR6 workstation cards)
  } memory;
  struct Cache {
    Bytes capacity;
    BytesPerSecond bandwidth; // (cal)
  } l2;
  struct Power {
    Watts tdp;
    Watts idle; // (cal)
  } power;
  struct Die { // all dies of the package together; lengths as their names say
    std::optional<double> area_mm2, transistors;
    std::optional<double> process_nm; // the foundry's name for the node, not a length
  } die;
  std::vector<ChipPort> ports;
  std::string form_factor;
  std::optional<double> slots;
  std::optional<Dollars> launch_price, street_price;
  std::optional<DollarsPerSecond> cloud_price;
  KernelCalibration kernels;
};

/// The matrix rate that training at `precision` uses. None where the chip has no such path:
/// validation refuses it.
[[nodiscard]] std::optional<FlopsPerSecond> training_matrix_rate(const Chip& chip,
                                                                 Precision precision);

} // namespace clustersim
