#include "plan/offload.hpp"

#include "plan/activations.hpp"
#include "plan/memory_states.hpp"

namespace clustersim {

bool updates_on_host(const Scenario& scenario) {
  return scenario.plan.offload.optimizer != Tier::chip;
}

bool keeps_gradients_on_host(const Scenario& scenario) {
  return updates_on_host(scenario) && (scenario.plan.zero >= 2 || scenario.data_ranks() == 1);
}

bool brings_parameters(const Scenario& scenario) {
  return scenario.plan.offload.parameters != Tier::chip;
}

void append_to_tier(BlockBuilder& builder, Tier tier, Bytes bytes, double hidden) {
  using enum HostWork::What;
  if (tier == Tier::chip) return;
  builder.host_work("copy to host", {to_host, bytes}, hidden);
  if (tier == Tier::nvme) builder.host_work("write to drives", {write_drive, bytes}, hidden);
}

void append_from_tier(BlockBuilder& builder, Tier tier, Bytes bytes, double hidden) {
  using enum HostWork::What;
  if (tier == Tier::chip) return;
  if (tier == Tier::nvme) builder.host_work("read from drives", {read_drive, bytes}, hidden);
  builder.host_work("copy from host", {from_host, bytes}, hidden);
}

Bytes offloaded_activations(const Scenario& scenario, const Shard& shard, LayerKind kind,
                            Recompute recompute) {
  if (scenario.plan.offload.activations == Tier::chip) return Bytes{0};
  return kept_per_layer(scenario, shard, kind, recompute);
}

void append_parameters(BlockBuilder& builder, const Scenario& scenario, Held weight_bytes,
                       double hidden) {
  append_from_tier(builder, scenario.plan.offload.parameters,
                   Bytes{sharded(scenario, weight_bytes, &ShardedStates::weights)}, hidden);
}

/// Gradients go out in their own type, and are read where the states are updated.
void append_gradients(BlockBuilder& builder, const Scenario& scenario, Held parameters) {
  if (!updates_on_host(scenario)) return;
  const Bytes bytes =
      sharded(scenario, parameters, &ShardedStates::optimizer) * gradient_element(scenario);
  builder.host_work("gradients to host", {HostWork::What::to_host, bytes}, 1.0);
}

/// ZeRO-Offload (Ren et al. 2021, arXiv 2101.06840), sections 4 and 5: weights go back tile by tile
/// while the cores go on; ZeRO-Infinity (Rajbhandari et al. 2021, arXiv 2104.07857), section 6:
/// drives read and write beside them.
void append_host_update(BlockBuilder& builder, const Scenario& scenario, const Trained& trained,
                        Bytes traffic) {
  using enum HostWork::What;
  builder.join(Lane::host);
  if (scenario.plan.offload.optimizer == Tier::nvme) {
    const Bytes states = optimizer_state_bytes(scenario, trained);
    builder.host_work("states from drives", {read_drive, states}, 1.0);
    builder.host_work("states to drives", {write_drive, states}, 1.0);
  }
  if (!brings_parameters(scenario)) {
    const double updated = sharded(scenario, trained.parameters, &ShardedStates::optimizer);
    builder.host_work("weights from host", {from_host, updated * weight_element(scenario)}, 1.0);
  }
  builder.host_update("update by the host's cores", {update, traffic});
  builder.join(Lane::host);
}

} // namespace clustersim
