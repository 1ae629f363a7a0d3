// Spellings of the closed sets that files and reports name.

#include "base/bug.hpp"
#include "spec/catalogue.hpp"
#include "spec/stack.hpp"

#include <array>

namespace clustersim {
namespace {

constexpr std::array<std::string_view, kernel_class_count> kernel_classes{
    "elementwise", "norm", "activation", "softmax", "optimizer",
    "loss",        "rope", "permute",    "cast",    "gather"};

constexpr std::array<std::string_view, 13> sites{
    "embedding",  "norm", "residual", "qkv",     "rope", "score",   "context",
    "activation", "loss", "gradient", "adapter", "cast", "quantise"};

struct KindNames {
  std::string_view name, directory;
};
constexpr std::array<KindNames, 9> kinds{{{"chip", "models/chips"},
                                          {"transformer", "models/transformers"},
                                          {"node", "topologies/nodes"},
                                          {"fabric", "topologies/fabrics"},
                                          {"link", "topologies/links"},
                                          {"stack", "models/stacks"},
                                          {"recipe", "models/recipes"},
                                          {"optimizer", "models/optimizers"},
                                          {"calibration", "models/calibrations"}}};

template <class E, std::size_t N>
std::string_view spelt(const std::array<std::string_view, N>& names, E value) {
  const auto index = static_cast<std::size_t>(value);
  if (index >= N) {
    throw Bug("enumeration value without a name");
  }
  return names[index];
}

template <class E, std::size_t N>
std::optional<E> meant(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) {
      return static_cast<E>(i);
    }
  }
  return std::nullopt;
}

} // namespace

std::string_view name_of(KernelClass kernel_class) {
  return spelt(kernel_classes, kernel_class);
}
std::optional<KernelClass> kernel_class_from(std::string_view name) {
  return meant<KernelClass>(kernel_classes, name);
}

std::string_view name_of(Site site) {
  return spelt(sites, site);
}
std::optional<Site> site_from(std::string_view name) {
  return meant<Site>(sites, name);
}

std::string_view name_of(Kind kind) {
  return kinds.at(static_cast<std::size_t>(kind)).name;
}
std::string_view directory_of(Kind kind) {
  return kinds.at(static_cast<std::size_t>(kind)).directory;
}

} // namespace clustersim
