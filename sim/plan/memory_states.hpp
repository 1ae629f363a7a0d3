#pragma once
// Bytes of model states on one rank, wherever they live.

#include "plan/trained.hpp"

namespace clustersim {

/// What the rule remembers of these parameters, and master weights of narrower ones.
[[nodiscard]] Bytes optimizer_state_bytes(const Scenario& scenario, const Trained& trained);

/// Of one rank, by tier.
struct Outside {
  Bytes host, drives;
};
/// Of a stage that keeps so many bytes of activations.
[[nodiscard]] Outside kept_outside(const Scenario& scenario, const Stage& stage,
                                   const Trained& trained, Bytes activations);

} // namespace clustersim
