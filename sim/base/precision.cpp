#include "base/precision.hpp"

#include "base/bug.hpp"
#include "base/text.hpp"

namespace clustersim {

std::string_view name_of(Precision precision) {
  switch (precision) {
  case Precision::fp64:
    return "fp64";
  case Precision::fp32:
    return "fp32";
  case Precision::tf32:
    return "tf32";
  case Precision::fp16:
    return "fp16";
  case Precision::bf16:
    return "bf16";
  case Precision::fp8:
    return "fp8";
  case Precision::fp4:
    return "fp4";
  case Precision::int8:
    return "int8";
  case Precision::int4:
    return "int4";
  }
  throw Bug("precision outside its enumeration");
}

std::optional<Precision> precision_from(std::string_view name) {
  const std::string wanted = canonical_id(name);
  for (const Precision precision : all_precisions) {
    if (name_of(precision) == wanted) return precision;
  }
  return std::nullopt;
}

Bytes bytes_per_element(Precision precision) {
  switch (precision) {
  case Precision::fp64:
    return Bytes{8};
  case Precision::fp32:
  case Precision::tf32:
    return Bytes{4};
  case Precision::fp16:
  case Precision::bf16:
    return Bytes{2};
  case Precision::fp8:
  case Precision::int8:
    return Bytes{1};
  case Precision::fp4:
  case Precision::int4:
    return Bytes{0.5};
  }
  throw Bug("precision outside its enumeration");
}

bool is_quantised(Precision precision) {
  return bytes_per_element(precision) <= Bytes{1};
}

} // namespace clustersim
