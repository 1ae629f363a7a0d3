#pragma once
// What a transformer file can say and a training step cannot yet do: counting parameters is one
// thing, timing another.

#include "spec/transformer.hpp"

#include <string>
#include <vector>

namespace clustersim {

/// Features of `model` that lowering to a step program does not know, as a reader would name them.
[[nodiscard]] std::vector<std::string> untimed_features(const Transformer& model);

} // namespace clustersim
