#include "plan/memory_states.hpp"

#include "plan/offload.hpp"

namespace clustersim {

Bytes optimizer_state_bytes(const Scenario& scenario, const Trained& trained) {
  const Optimizer& rule = scenario.training.optimizer;
  const auto share = [&](Held held) { return sharded(scenario, held, &ShardedStates::optimizer); };
  const Bytes master = bytes_per_element(scenario.training.master_dtype);
  const Bytes copy = weight_element(scenario) < master ? master : Bytes{0};
  return share(trained.parameters) * copy +
         share(trained.matrices) * state_bytes(rule, ParameterGroup::matrices) +
         share(trained.rest()) * state_bytes(rule, ParameterGroup::rest) +
         share(trained.factors) * factored_bytes(rule);
}

Outside kept_outside(const Scenario& scenario, const Stage& stage, const Trained& trained,
                     Bytes activations) {
  const Offload& offload = scenario.plan.offload;
  Outside out;
  const auto put = [&](Tier tier, Bytes bytes) {
    if (tier == Tier::host) out.host += bytes;
    if (tier == Tier::nvme) out.drives += bytes;
  };
  put(offload.optimizer, optimizer_state_bytes(scenario, trained));
  put(offload.parameters,
      Bytes{sharded(scenario, weight_bytes(scenario, stage), &ShardedStates::weights)});
  put(offload.activations, activations);
  if (updates_on_host(scenario)) {
    out.host += sharded(scenario, trained.parameters, &ShardedStates::optimizer) *
                gradient_element(scenario);
  }
  return out;
}

} // namespace clustersim
