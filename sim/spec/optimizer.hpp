#pragma once
// An update rule (models/optimizers/*.toml): what it remembers of every parameter and what a step
// moves and computes (docs/explanation/optimizer.md). Master weights and gradients are the
// precision recipe's, not the rule's.

#include "base/precision.hpp"
#include "base/quantity.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace clustersim {

/// Weights of products between hidden states; or tables, heads, norms and biases.
enum class ParameterGroup { all, matrices, rest };

/// One value per parameter; or, of a matrix, one per row and one per column (Adafactor), and of a
/// vector one per parameter.
enum class StateShape { parameter, factored };

struct OptimizerState {
  std::string name; // "variance"
  Precision dtype = Precision::fp32;
  std::int64_t block = 0; // values that share an FP32 scale; 0: none
  StateShape shape = StateShape::parameter;
  ParameterGroup of = ParameterGroup::all;
};

/// What one step does with a parameter.
struct UpdateWork {
  double gradient_moves = 1; // times that the gradient, or what takes its place, is read or written
  double weight_moves = 2;   // the same of the FP32 weight
  double state_moves = 2;    // the same of every state
  double extra_bytes = 0;    // besides
  double flops = 0;          // outside the matrix units
  int kernels_per_tensor = 0; // launches; 0: tensors share the launches that the stack makes
  friend bool operator==(const UpdateWork&, const UpdateWork&) = default;
};

/// Replaces a matrix by the nearest orthogonal one (Muon): of the products X·Xᵀ, A·A and B·X, as
/// many rounds, on whole matrices.
struct Orthogonalisation {
  int rounds = 0; // 0: none
  Precision precision = Precision::bf16;
  double gram_moves = 0;   // times that X·Xᵀ is read or written beside the products, per round
  double matrix_moves = 0; // the same of X
};

struct Optimizer {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string note;
  std::vector<OptimizerState> states;
  UpdateWork update;   // of tables, heads and vectors
  UpdateWork matrices; // of matrices in layers
  Orthogonalisation orthogonalise;
};

/// Storage of one value, its share of a scale included.
[[nodiscard]] Bytes stored_bytes(const OptimizerState& state);
/// Of all states that a parameter of this group has one value each of.
[[nodiscard]] Bytes state_bytes(const Optimizer& optimizer, ParameterGroup group);
/// Of all states that have a value per row and column of a matrix.
[[nodiscard]] Bytes factored_bytes(const Optimizer& optimizer);

} // namespace clustersim
