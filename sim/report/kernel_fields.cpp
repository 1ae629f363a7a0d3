#include "report/kernel_fields.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace clustersim {
namespace {

constexpr double pico = 1e-12, micro = 1e-6, giga = 1e9, tera = 1e12;

using Fields = std::vector<KernelField>;

std::string named(Precision precision) {
  return std::string(name_of(precision));
}

std::string named(GemmRole role) {
  switch (role) {
  case GemmRole::forward:
    return "forward";
  case GemmRole::data_gradient:
    return "data_gradient";
  case GemmRole::weight_gradient:
    return "weight_gradient";
  }
  throw Bug("unknown role of a GEMM");
}

std::string named(LaunchGap gap) {
  switch (gap) {
  case LaunchGap::none:
    return "none";
  case LaunchGap::graph:
    return "graph";
  case LaunchGap::stream:
    return "stream";
  }
  throw Bug("unknown launch gap");
}

Fields shape_fields(const GemmShape& s) {
  return {{"m", s.m},
          {"n", s.n},
          {"k", s.k},
          {"batch", s.batch},
          {"precision", named(s.precision)},
          {"output", named(s.output)},
          {"role", named(s.role)},
          {"sums", std::string(s.accumulate_16 ? "fp16" : "fp32")},
          {"sparse", s.sparse}};
}

Fields shape_fields(const AttentionShape& s) {
  return {{"batch", s.batch},       {"sequence", s.queries},  {"heads", s.heads},
          {"kv_heads", s.kv_heads}, {"head_dim", s.head_dim}, {"window", s.window},
          {"causal", s.causal},     {"backward", s.backward}, {"precision", named(s.precision)}};
}

Fields shape_fields(const MemoryKernel& s) {
  return {{"class", std::string(name_of(s.kernel_class))}, {"bytes", s.traffic.si()}};
}

} // namespace

std::string_view kernel_name(const KernelShape& shape) {
  return std::holds_alternative<GemmShape>(shape)        ? "gemm"
         : std::holds_alternative<AttentionShape>(shape) ? "attention"
                                                         : "memory";
}

FlopsPerSecond rate_of(const KernelAnswer& answer) {
  return answer.time.flops / answer.time.total;
}

BytesPerSecond bandwidth_of(const KernelAnswer& answer) {
  return answer.time.traffic / answer.time.total;
}

Watts power_of(const KernelAnswer& answer) {
  return answer.time.energy / answer.time.total;
}

Fields asked(const KernelAnswer& answer) {
  Fields fields{{"chip", answer.chip}};
  for (KernelField& field :
       std::visit([](const auto& shape) { return shape_fields(shape); }, answer.shape)) {
    fields.push_back(std::move(field));
  }
  if (!answer.attention_kernel.empty()) {
    fields.push_back({"library", answer.attention_kernel});
  }
  fields.push_back({"condition", std::string{name_of(answer.setting.occasion.condition)}});
  fields.push_back({"operands", std::string{name_of(answer.setting.occasion.data)}});
  fields.push_back({"launch", named(answer.setting.gap)});
  if (answer.setting.cap) {
    fields.push_back({"power_cap_w", answer.setting.cap->si()});
  }
  return fields;
}

Fields found(const KernelAnswer& answer) {
  const KernelTime& time = answer.time;
  Fields fields{
      {"time_us", time.total.si() / micro},      {"tflops", rate_of(answer).si() / tera},
      {"gbs", bandwidth_of(answer).si() / giga}, {"roof", std::string(name_of(time.binding))},
      {"fraction", answer.fraction()},           {"matrix_us", time.matrix.si() / micro},
      {"vector_us", time.vector.si() / micro},   {"l2_us", time.l2.si() / micro},
      {"memory_us", time.memory.si() / micro},   {"launch_us", time.launch.si() / micro}};
  fields.push_back({"power_w", power_of(answer).si()});
  fields.push_back({"energy_j", time.energy.si()});
  const bool computes = !std::holds_alternative<MemoryKernel>(answer.shape);
  fields.push_back(computes ? KernelField{"pj_per_flop", (time.energy / time.flops).si() / pico}
                            : KernelField{"pj_per_byte", (time.energy / time.traffic).si() / pico});
  if (answer.tiling) {
    const Tiling& tiling = *answer.tiling;
    fields.push_back({"tile", fmt::format("{}x{}", tiling.tile.rows, tiling.tile.columns)});
    fields.push_back({"split_k", std::int64_t{tiling.split_k}});
    fields.push_back({"waves", tiling.waves});
    fields.push_back({"tail", tiling.tail});
  } else if (std::holds_alternative<GemmShape>(answer.shape)) {
    fields.push_back({"tile", std::string()});
    fields.push_back({"split_k", std::int64_t{1}});
    fields.push_back({"waves", std::int64_t{1}});
    fields.push_back({"tail", 0.0});
  }
  fields.push_back({"reason", answer.reason});
  return fields;
}

std::string text_of(const KernelField& field) {
  if (const auto* count = std::get_if<std::int64_t>(&field.value)) {
    return std::to_string(*count);
  }
  if (const auto* number = std::get_if<double>(&field.value)) {
    return shortest(*number);
  }
  if (const auto* truth = std::get_if<bool>(&field.value)) {
    return *truth ? "true" : "false";
  }
  return std::get<std::string>(field.value);
}

} // namespace clustersim
