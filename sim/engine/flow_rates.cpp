#include "engine/flow_rates.hpp"

#include "network/fluid.hpp"

#include <algorithm>
#include <optional>

namespace clustersim {

FlowRates::FlowRates(Network& network, const ResourceScale& scale)
    : graph_(&network.graph), scale_(scale), places_(network.graph) {}

LinkClassId FlowRates::class_of(std::size_t place) const {
  return graph_->edge(places_.example(place)).link_class;
}

std::uint32_t FlowRates::add(const Collective& collective, const CollectiveTime& time,
                             bool contends) {
  const auto [found, fresh] =
      known_.try_emplace(collective, static_cast<std::uint32_t>(flows_.size()));
  if (!fresh) return found->second;
  std::vector<Load>& loads = flows_.emplace_back();
  if (!contends || time.form == nullptr || !(time.time.si() > 0.0)) return found->second;
  std::map<std::size_t, double> most;
  for (const EdgeTime& one : edge_times(*time.form, *graph_)) {
    const std::size_t place = places_.place_of(one.edge);
    const std::string& id = graph_->link_classes()[class_of(place).at()].id;
    const double use = one.busy / scale_.link(id).bandwidth * collective.payload / time.time;
    double& here = most[place];
    here = std::max(here, std::min(use, 1.0)); // stages of an algorithm follow one another
  }
  loads.reserve(most.size());
  for (const auto& [place, use] : most)
    loads.push_back({place, use});
  return found->second;
}

std::uint32_t FlowRates::add_apart() {
  if (apart_ == no_flow) {
    apart_ = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  }
  return apart_;
}

/// In shares of each edge's capacity, and of each flow's own speed.
FlowSet FlowRates::solve(const RunningFlows& flows) const {
  FluidShare share;
  std::map<std::size_t, FluidEdgeId> edges;
  std::array<std::optional<FlowId>, flow_slots> ids;
  for (std::size_t slot = 0; slot < flow_slots; ++slot) {
    if (flows[slot] == no_flow) continue;
    FluidFlow flow;
    double busiest = 0.0;
    for (const Load& load : flows_[flows[slot]]) {
      const auto known = edges.find(load.edge);
      const FluidEdgeId edge =
          known != edges.end()
              ? known->second
              : edges.emplace(load.edge, share.add_edge(BytesPerSecond{1.0})).first->second;
      flow.weights.push_back({edge, load.use});
      busiest = std::max(busiest, load.use);
    }
    flow.most = BytesPerSecond{1.0};
    if (busiest > 0.0) flow.share = 1.0 / busiest;
    ids[slot] = share.start(std::move(flow));
  }
  share.settle();
  FlowSet set;
  for (std::size_t slot = 0; slot < flow_slots; ++slot)
    set.speed[slot] = ids[slot] ? share.rate(*ids[slot]).si() : 0.0;
  set.use.assign(graph_->link_classes().size(), 0.0);
  for (const auto& [place, edge] : edges) {
    double& use = set.use[class_of(place).at()];
    use = std::max(use, share.carried(edge).si());
  }
  return set;
}

std::size_t FlowRates::set_of(const RunningFlows& flows) {
  const auto [found, fresh] = known_sets_.try_emplace(flows, sets_.size());
  if (fresh) sets_.push_back(solve(flows));
  return found->second;
}

} // namespace clustersim
