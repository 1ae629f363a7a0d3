#include "study/kernel_answer.hpp"

#include "base/units.hpp"
#include "law/unfused_attention.hpp"
#include "study/kernel_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace clustersim {
namespace {

std::string in_percent(double share) {
  return fmt::format("{:.3g} %", 100.0 * share);
}

Seconds roofline_time(const KernelTime& time, FlopsPerSecond peak, BytesPerSecond bandwidth) {
  const Seconds compute = peak.si() > 0 ? time.flops / peak : Seconds{};
  return std::max(compute, time.traffic / bandwidth);
}

/// What keeps the chip from its peak, as one clause.
std::string launch_clause(const KernelTime& time) {
  const Seconds work = std::max({time.matrix, time.vector, time.l2, time.memory});
  return fmt::format("its gap, start and drain take {}, longer than its work ({})",
                     format_quantity(time.launch, 3), format_quantity(work, 3));
}

std::string memory_clause(const KernelTime& time, const Chip& chip) {
  return fmt::format("it must move {} to and from {}, at {} of {}",
                     format_quantity(time.traffic, 3),
                     chip.memory.type.empty() ? "DRAM" : chip.memory.type,
                     in_percent(time.traffic / time.memory / chip.memory.bandwidth),
                     format_quantity(chip.memory.bandwidth, 4));
}

std::string l2_clause(const KernelTime& time) {
  return fmt::format("its operands pass through L2 in {}", format_quantity(time.l2, 3));
}

std::string matrix_clause(const KernelAnswer& answer, FlopsPerSecond peak, const Chip& chip) {
  const KernelTime& time = answer.time;
  const std::string useful =
      fmt::format("the units do useful work at {} of their {}",
                  in_percent(time.flops / time.matrix / peak), format_quantity(peak, 4));
  const auto* gemm = std::get_if<GemmShape>(&answer.shape);
  if (gemm == nullptr || gemm->sparse || gemm->accumulate_16) {
    return useful;
  }
  const Device device = device_for(answer.setting, chip);
  const double sustained = device.matrix_sustained[gemm->precision].value_or(peak) / peak;
  return fmt::format("{} (this load sustains {} at most)", useful, in_percent(sustained));
}

std::string tiling_clause(const Tiling& tiling, const Chip& chip) {
  std::string text =
      fmt::format("{}x{} tiles fill {} units in {} wave{}", tiling.tile.rows, tiling.tile.columns,
                  chip.compute_units, tiling.waves, tiling.waves == 1 ? "" : "s");
  if (tiling.tail > 0) {
    text += fmt::format(", {} of the last one idle", in_percent(tiling.tail));
  }
  if (tiling.split_k > 1) {
    text += fmt::format("; K is cut in {} to fill more of them", tiling.split_k);
  }
  return text;
}

std::string reason_of(const KernelAnswer& answer, FlopsPerSecond peak, const Chip& chip) {
  const KernelTime& time = answer.time;
  std::string reason;
  switch (time.binding) {
  case Roof::launch:
    return launch_clause(time);
  case Roof::memory:
    reason = memory_clause(time, chip);
    break;
  case Roof::l2:
    reason = l2_clause(time);
    break;
  case Roof::matrix:
    reason = matrix_clause(answer, peak, chip);
    break;
  case Roof::vector:
    reason = "its arithmetic outside the matrix units takes longest";
    break;
  }
  return answer.tiling && time.binding != Roof::memory
             ? reason + "; " + tiling_clause(*answer.tiling, chip)
             : reason;
}

/// What the user should know about the chip and the setting, not about the shape.
std::vector<std::string> notes_on(const KernelSetting& setting, const Chip& chip,
                                  std::optional<Precision> wanted) {
  std::vector<std::string> notes;
  const std::optional<MatrixPath> path = wanted ? path_of(chip, *wanted) : std::nullopt;
  if (path && path->precision != *wanted) {
    notes.push_back(fmt::format("{} has no {} path: the products run as {}", chip.name,
                                name_of(*wanted), name_of(path->precision)));
  }
  if (path && !chip.matrix[path->precision]) {
    notes.push_back(fmt::format("{} has no matrix units for {}: its vector units do the work",
                                chip.name, name_of(path->precision)));
  }
  if (setting.cap && *setting.cap >= chip.power.tdp) {
    notes.push_back(fmt::format("a cap of {} changes nothing: the board's limit is {}",
                                format_quantity(*setting.cap), format_quantity(chip.power.tdp)));
  }
  if (chip.kernels.basis != "measured") {
    notes.push_back(fmt::format("no chip of the family {} was measured: its kernel constants are "
                                "carried over from a sibling",
                                chip.kernels.id));
  }
  return notes;
}

/// The dense peak times what 2:4 sparsity and sums in 16 bits make of it on this chip.
FlopsPerSecond peak_of(const GemmShape& shape, const MatrixPath& path, const Chip& chip) {
  FlopsPerSecond peak = path.peak;
  if (shape.accumulate_16) {
    peak = std::max(peak, chip.matrix_accumulate_16[path.precision].value_or(peak));
  }
  return shape.sparse && chip.structured_sparsity ? 2.0 * peak : peak;
}

void note_variants(KernelAnswer& answer, const GemmShape& shape, const Chip& chip) {
  if (shape.sparse && !chip.structured_sparsity) {
    answer.notes.push_back(
        fmt::format("{} gains nothing from 2:4 sparsity: timed as a dense product", chip.name));
  }
  if (shape.accumulate_16 && !chip.matrix_accumulate_16[shape.precision]) {
    answer.notes.push_back(fmt::format("{} sums {} products no faster in 16 bits", chip.name,
                                       name_of(shape.precision)));
  }
}

std::string lacks(const Chip& chip, Precision precision) {
  return fmt::format("{} has no {} path, and none that holds the same numbers", chip.name,
                     name_of(precision));
}

using Result = std::variant<KernelAnswer, std::string>;

Result answer_gemm(KernelAnswer answer, const GemmShape& shape, const Chip& chip) {
  const std::optional<MatrixPath> path = path_of(chip, shape.precision);
  if (!path) {
    return lacks(chip, shape.precision);
  }
  const GemmTime result = gemm_time(shape, device_for(answer.setting, chip));
  answer.time = result.time;
  if (chip.kernels.gemm.systolic == 0) {
    answer.tiling = Tiling{result.tile, result.split_k, result.waves, result.tail};
  }
  const FlopsPerSecond peak = peak_of(shape, *path, chip);
  answer.roofline = roofline_time(answer.time, peak, chip.memory.bandwidth);
  answer.reason = reason_of(answer, peak, chip);
  answer.notes = notes_on(answer.setting, chip, shape.precision);
  note_variants(answer, shape, chip);
  return answer;
}

/// Of the fused kernels that the chip knows and the question allows, the fastest.
std::optional<KernelAnswer> fastest_fused(const KernelAnswer& question, const AttentionShape& shape,
                                          const Chip& chip) {
  const std::vector<std::string>& asked = question.setting.attention_kernels;
  std::optional<KernelAnswer> best;
  for (const std::string& kernel : attention_kernels_of(chip)) {
    if (!asked.empty() && std::find(asked.begin(), asked.end(), kernel) == asked.end()) {
      continue;
    }
    KernelAnswer one = question;
    one.setting.attention_kernels = {kernel};
    one.attention_kernel = kernel;
    one.time = attention_time(shape, device_for(one.setting, chip));
    if (!best || one.time.total < best->time.total) {
      best = std::move(one);
    }
  }
  return best;
}

KernelAnswer unfused(KernelAnswer answer, const AttentionShape& shape, const Chip& chip) {
  answer.attention_kernel = unfused_attention;
  answer.time = unfused_attention_time(shape, device_for(answer.setting, chip));
  return answer;
}

Result answer_attention(KernelAnswer answer, const AttentionShape& shape, const Chip& chip) {
  const std::optional<MatrixPath> path = path_of(chip, shape.precision);
  if (!path) {
    return lacks(chip, shape.precision);
  }
  const std::vector<std::string>& asked = answer.setting.attention_kernels;
  const bool by_name = std::find(asked.begin(), asked.end(), unfused_attention) != asked.end();
  const bool only_way = asked.empty() && attention_kernels_of(chip).empty();
  std::optional<KernelAnswer> best = by_name || only_way
                                         ? std::optional{unfused(std::move(answer), shape, chip)}
                                         : fastest_fused(answer, shape, chip);
  if (!best) {
    return fmt::format("{} has no constants of that attention kernel", chip.name);
  }
  best->roofline = roofline_time(best->time, path->peak, chip.memory.bandwidth);
  best->reason = reason_of(*best, path->peak, chip);
  best->notes = notes_on(best->setting, chip, shape.precision);
  if (only_way) {
    best->notes.push_back(fmt::format("no fused attention kernel is calibrated for {}", chip.name));
  }
  return std::move(*best);
}

Result answer_memory(KernelAnswer answer, const MemoryKernel& kernel, const Chip& chip) {
  const Device device = device_for(answer.setting, chip);
  answer.time = memory_kernel_time(kernel, device);
  const bool cached = answer.time.l2.si() > 0;
  answer.roofline =
      roofline_time(answer.time, {}, cached ? chip.l2.bandwidth : chip.memory.bandwidth);
  answer.reason =
      cached && answer.time.binding == Roof::l2
          ? fmt::format("its {} stay in the L2 of {}", format_quantity(kernel.traffic, 3),
                        format_binary(chip.l2.capacity, 3))
          : reason_of(answer, {}, chip);
  answer.notes = notes_on(answer.setting, chip, std::nullopt);
  return answer;
}

} // namespace

std::vector<std::string> attention_kernels_of(const Chip& chip) {
  std::vector<std::string> names;
  for (const AttentionRate& rate : chip.kernels.attention) {
    names.push_back(rate.kernel);
  }
  return names;
}

Precision usual_output(Precision precision) {
  using enum Precision;
  switch (precision) {
  case tf32:
    return fp32;
  case fp8:
  case fp4:
  case int8:
  case int4:
    return bf16;
  case fp64:
  case fp32:
  case fp16:
  case bf16:
    break;
  }
  return precision;
}

Result answer_kernel(const KernelShape& shape, const KernelSetting& setting, const Chip& chip) {
  KernelAnswer answer;
  answer.chip = chip.id;
  answer.chip_name = chip.name;
  answer.shape = shape;
  answer.setting = setting;
  if (const auto* gemm = std::get_if<GemmShape>(&shape)) {
    return answer_gemm(std::move(answer), *gemm, chip);
  }
  if (const auto* attention = std::get_if<AttentionShape>(&shape)) {
    return answer_attention(std::move(answer), *attention, chip);
  }
  return answer_memory(std::move(answer), std::get<MemoryKernel>(shape), chip);
}

} // namespace clustersim
