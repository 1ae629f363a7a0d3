#pragma once
// What the laws of `run` say about one measured kernel.

#include "spec/chip.hpp"
#include "study/kernel_evidence.hpp"

#include <string>
#include <variant>

namespace clustersim {

/// In the unit of `MeasuredKernel::measured`, or why these laws have no answer on this chip.
using KernelPrediction = std::variant<double, std::string>;

/// `chip` may differ from the catalogue's: calibration tries constants.
[[nodiscard]] KernelPrediction predict_kernel(const MeasuredKernel& kernel, const Chip& chip);

/// The same on a device made before, by device_for(kernel.setting, chip).
[[nodiscard]] KernelPrediction predict_kernel(const MeasuredKernel& kernel, const Device& device,
                                              const Chip& chip);

/// The device that a kernel so measured ran on.
[[nodiscard]] Device device_for(const KernelSetting& setting, const Chip& chip);

} // namespace clustersim
