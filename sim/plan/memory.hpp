#pragma once
// Peak memory of one chip by term, on the fullest pipeline stage (docs/explanation/memory.md).

#include "spec/scenario.hpp"

#include <string>
#include <vector>

namespace clustersim {

struct MemoryTerm {
  std::string name; // "weights", "gradients", "optimizer states", "activations", ...
  Bytes bytes;
  std::string sharded_by; // "tensor", "tensor × data", ""
};

/// One pipeline stage.
struct StageMemory {
  std::vector<MemoryTerm> terms;
  Bytes peak;
};

struct MemoryFootprint {
  Bytes capacity;                // data sheet
  Bytes usable;                  // of it, what the driver gives
  Bytes reserve;                 // framework: context, communicators; and `cached`
  Bytes cached;                  // free blocks that the allocator keeps at its peak
  std::vector<MemoryTerm> terms; // without the reserve
  Bytes peak;                    // sum of the terms: what an allocator has handed out
  std::vector<StageMemory> stages;
  Bytes host, drives;                  // what all chips of a node keep outside
  Bytes host_capacity, drive_capacity; // 0 = not stated
  /// Of a chip, or of the node where that has less left than nothing.
  [[nodiscard]] Bytes margin() const;
  [[nodiscard]] bool fits() const { return margin() >= Bytes{0}; }
};

/// Terms are those of the fullest stage.
[[nodiscard]] MemoryFootprint memory_footprint(const Scenario& scenario);
/// The first stage alone: never more than the whole, and quick to find.
[[nodiscard]] MemoryFootprint first_stage_footprint(const Scenario& scenario);

} // namespace clustersim
