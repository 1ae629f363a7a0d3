#include "spec/optimizer.hpp"

namespace clustersim {

Bytes stored_bytes(const OptimizerState& state) {
  const Bytes value = bytes_per_element(state.dtype);
  if (state.block == 0) return value;
  return value + bytes_per_element(Precision::fp32) / static_cast<double>(state.block);
}

Bytes state_bytes(const Optimizer& optimizer, ParameterGroup group) {
  Bytes sum;
  for (const OptimizerState& state : optimizer.states) {
    const bool wanted = state.of == ParameterGroup::all || state.of == group;
    if (wanted && state.shape == StateShape::parameter) sum += stored_bytes(state);
  }
  return sum;
}

Bytes factored_bytes(const Optimizer& optimizer) {
  Bytes sum;
  for (const OptimizerState& state : optimizer.states) {
    if (state.shape == StateShape::factored) sum += stored_bytes(state);
  }
  return sum;
}

} // namespace clustersim
