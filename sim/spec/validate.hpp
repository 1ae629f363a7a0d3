#pragma once
// What no single key can tell: contradictions between cluster, model and plan.

#include "spec/objects.hpp"

namespace clustersim {

/// Fills what is derived (data, sequence, gradient_dtype) and reports contradictions. Parts that
/// could not be loaded are null, and their checks are left out.
struct Loaded {
  struct Part {
    const Node* node = nullptr;
    const Fabric* fabric = nullptr;
    int nodes = 1;
  };
  std::vector<Part> parts; // of the cluster: one, or as many as it lists
  const Fabric* between = nullptr;
  const Stack* stack = nullptr;
  Transformer* model = nullptr; // its vocabulary may be padded
};

/// With an open plan what [plan] says is not looked at.
enum class PlanIs { given, open };

void validate(ScenarioInput& input, const Reading& reading, const Loaded& loaded, PlanIs plan,
              Diagnostics& out);

} // namespace clustersim
