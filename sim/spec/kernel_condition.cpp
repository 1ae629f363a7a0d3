#include "spec/stack.hpp"

#include "base/bug.hpp"

#include <array>

namespace clustersim {

std::string_view name_of(KernelCondition condition) {
  switch (condition) {
  case KernelCondition::always:
    return "always";
  case KernelCondition::gated:
    return "gated";
  case KernelCondition::ungated:
    return "ungated";
  case KernelCondition::dropout:
    return "dropout";
  case KernelCondition::no_dropout:
    return "no_dropout";
  }
  throw Bug("unknown kernel condition");
}

std::optional<KernelCondition> kernel_condition_from(std::string_view name) {
  using enum KernelCondition;
  for (const KernelCondition condition : std::array{always, gated, ungated, dropout, no_dropout}) {
    if (name_of(condition) == name) return condition;
  }
  return std::nullopt;
}

} // namespace clustersim
