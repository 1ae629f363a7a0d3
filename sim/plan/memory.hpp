#pragma once
// Peak memory of one chip by term (docs/explanation/memory.md).

#include "spec/scenario.hpp"

#include <string>
#include <vector>

namespace clustersim {

struct MemoryTerm {
  std::string name; // "weights", "gradients", "optimizer states", "activations", ...
  Bytes bytes;
  std::string sharded_by; // "tensor", "tensor × data", ""
};

struct MemoryFootprint {
  Bytes capacity;                // data sheet
  Bytes usable;                  // of it, what the driver gives
  Bytes reserve;                 // framework: context, communicators, cache
  std::vector<MemoryTerm> terms; // without the reserve
  Bytes peak;                    // sum of the terms: what an allocator reports
  [[nodiscard]] Bytes margin() const { return usable - reserve - peak; }
  [[nodiscard]] bool fits() const { return margin() >= Bytes{0}; }
};

[[nodiscard]] MemoryFootprint memory_footprint(const Scenario& scenario);

} // namespace clustersim
