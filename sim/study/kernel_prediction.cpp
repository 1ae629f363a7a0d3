#include "study/kernel_prediction.hpp"

#include "base/bug.hpp"
#include "law/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

constexpr double giga = 1e9;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

KernelPrediction gemm(const GemmShape& shape, const Device& device) {
  if (!device.matrix_sustained[shape.precision]) {
    return fmt::format("the chip has no {} path", name_of(shape.precision));
  }
  return gemm_time(shape, device).time.total.si();
}

KernelPrediction attention(const AttentionShape& shape, const Device& device) {
  if (device.attention_kernel == unfused_attention) {
    return "no constants of this attention kernel on this chip";
  }
  if (!device.matrix_peak[shape.precision]) {
    return fmt::format("the chip has no {} path", name_of(shape.precision));
  }
  return attention_time(shape, device).total.si();
}

KernelPrediction bandwidth(const BandwidthProbe& probe, const Device& device) {
  const bool cached =
      probe.level == BandwidthProbe::Level::l2 && probe.footprint <= device.l2_capacity;
  if (cached && device.l2.si() <= 0.0) {
    return "no L2 bandwidth of this chip is known";
  }
  return (cached ? device.l2 : stream_bandwidth(device, probe.written)).si() / giga;
}

/// A workload whose draw is not stated draws what a large product does.
/// One that draws less than its cap does not notice it. Else its clock falls until the part
/// of its power that follows the clock fits under the cap (docs/explanation/power.md):
///   ((cap - fixed · TDP) / (drawn - fixed · TDP))^(1/exponent)
/// and with it the share of its time that the core clock decides.
KernelPrediction capped(const CappedWorkload& work, const Chip& chip) {
  const Watts tdp = chip.power.tdp;
  const Watts limit = std::min(work.limit.value_or(tdp), tdp);
  const Watts product = matrix_power(make_device(chip, Stack{}, {}));
  const Watts drawn = std::min(work.drawn.value_or(product), limit);
  if (tdp.si() <= 0.0) {
    return "no power limit of this chip is known";
  }
  if (drawn <= work.cap) {
    return 1.0;
  }
  const PowerCalibration& power = chip.kernels.power;
  const Watts fixed = tdp * power.fixed;
  double clock = power.minimum_clock;
  if (work.cap > fixed) {
    clock = std::max(clock, std::pow((work.cap - fixed) / (drawn - fixed), 1.0 / power.exponent));
  }
  return 1.0 / (1.0 - work.core_share + work.core_share / clock);
}

KernelPrediction predict(const KernelWork& work, const Device& device, const Chip& chip) {
  return std::visit(
      Overloaded{[&](const GemmShape& shape) { return gemm(shape, device); },
                 [&](const AttentionShape& shape) { return attention(shape, device); },
                 [&](const MemoryKernel& kernel) {
                   return KernelPrediction{memory_kernel_time(kernel, device).total.si()};
                 },
                 [&](const BandwidthProbe& probe) { return bandwidth(probe, device); },
                 [&](const CappedWorkload& workload) { return capped(workload, chip); }},
      work);
}

} // namespace

Device device_for(const KernelSetting& setting, const Chip& chip) {
  Stack stack;
  stack.launch = setting.gap == LaunchGap::graph ? LaunchMode::graph : LaunchMode::eager;
  stack.attention_kernel = unfused_attention;
  if (!setting.attention_kernels.empty()) {
    stack.attention_kernel = setting.attention_kernels.front();
    stack.attention_fallbacks = setting.attention_kernels;
  }
  Device device = make_device(chip, stack, {setting.cap, 1.0}, {}, setting.occasion);
  if (setting.gap == LaunchGap::none) {
    device.gap = Seconds{};
  }
  return device;
}

KernelPrediction predict_kernel(const MeasuredKernel& kernel, const Chip& chip) {
  return predict_kernel(kernel, device_for(kernel.setting, chip), chip);
}

KernelPrediction predict_kernel(const MeasuredKernel& kernel, const Device& device,
                                const Chip& chip) {
  if (kernel.work.empty()) {
    throw Bug("a measured kernel without work");
  }
  double sum = 0;
  for (const KernelWork& work : kernel.work) {
    const KernelPrediction part = predict(work, device, chip);
    if (const std::string* reason = std::get_if<std::string>(&part)) {
      return *reason;
    }
    sum += std::get<double>(part);
  }
  return sum;
}

} // namespace clustersim
