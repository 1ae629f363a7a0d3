#pragma once
// The choices of a plan that can be changed by themselves, as edits of a scenario.

#include "spec/scenario.hpp"

#include <functional>
#include <string>
#include <vector>

namespace clustersim {

/// A choice (recompute, tensor against data parallelism, …) and its other values.
struct PlanAxis {
  std::vector<std::function<void(Scenario&)>> options;
  bool numerics = false; // changes what is computed, not only where and when
};

/// Axes without another value are left out. Options may be combined, one of each axis; `feasible`
/// says whether the result divides evenly.
[[nodiscard]] std::vector<PlanAxis> plan_axes(const Scenario& scenario);

/// The first thing that is wrong with a plan whose chips and batch divide evenly; an empty key if
/// nothing is.
struct Refusal {
  std::string key, reason;
};
[[nodiscard]] Refusal refusal_of(const Scenario& scenario);

[[nodiscard]] bool feasible(const Scenario& scenario);

/// What differs, as arguments of --set: "tensor=4 data=8".
[[nodiscard]] std::string difference(const Plan& from, const Plan& to);
[[nodiscard]] std::string difference(const Scenario& from, const Scenario& to);

} // namespace clustersim
