#include "network/concurrent.hpp"

#include "base/bug.hpp"
#include "network/fluid.hpp"

#include <algorithm>
#include <limits>

namespace clustersim {
namespace {

struct Running {
  FlowId flow;
  Bytes left;
};

/// Returns how long that took.
Seconds run_until_one_ends(FluidShare& share, std::vector<Running>& running, Bytes payload) {
  constexpr double nothing = 1e-9;
  Seconds passed{std::numeric_limits<double>::infinity()};
  for (const Running& one : running)
    passed = std::min(passed, one.left / share.rate(one.flow));
  for (Running& one : running)
    one.left -= passed * share.rate(one.flow);
  std::erase_if(running, [&](const Running& one) {
    const bool done = one.left <= nothing * payload;
    if (done) share.end(one.flow);
    return done;
  });
  return passed;
}

} // namespace

bool ConcurrentGroups::uses(const std::vector<Load>& group, std::size_t place) {
  return std::any_of(group.begin(), group.end(),
                     [&](const Load& load) { return load.place == place; });
}

EdgePlaces::EdgePlaces(const LinkGraph& graph) : graph_(&graph) {
  first_edges_.reserve(graph.nodes().size());
  for (const NodeBlock& node : graph.nodes())
    first_edges_.push_back(node.first_edge.at());
}

std::size_t EdgePlaces::place_of(EdgeId edge) {
  std::pair<std::uint32_t, std::size_t> place{~std::uint32_t{0}, edge.at()};
  const auto after = std::upper_bound(first_edges_.begin(), first_edges_.end(), edge.at());
  if (after != first_edges_.begin()) {
    const auto index = static_cast<std::size_t>(after - first_edges_.begin()) - 1;
    const NodeBlock& node = graph_->nodes()[index];
    const std::size_t offset = edge.at() - node.first_edge.at();
    if (offset < static_cast<std::size_t>(node.edges)) place = {node.shape.value, offset};
  }
  const auto [found, fresh] = known_.try_emplace(place, first_.size());
  if (fresh) first_.push_back(edge);
  return found->second;
}

ConcurrentGroups::ConcurrentGroups(const LinkGraph& graph, Router& router, CollectiveKind kind,
                                   GroupFamily family)
    : graph_(&graph), router_(&router), kind_(kind), family_(family), places_(graph) {}

std::map<std::size_t, SecondsPerByte> ConcurrentGroups::busiest_of(const CollectiveForm& form) {
  std::map<std::size_t, SecondsPerByte> most;
  for (const EdgeTime& time : edge_times(form, *graph_)) {
    SecondsPerByte& here = most[places_.place_of(time.edge)];
    here = std::max(here, time.busy);
  }
  return most;
}

const ConcurrentGroups::GroupLoads& ConcurrentGroups::loads_of(const CollectiveForm& form) {
  const auto [found, fresh] = known_.try_emplace({form.algorithm, form.protocol});
  if (!fresh) return found->second;
  for (int g = 0; g < family_.groups; ++g) {
    GroupFamily one = family_;
    one.first_group = g;
    one.groups = 1;
    const auto forms = collective_forms(*graph_, *router_, kind_, one, form.algorithm);
    const auto same = std::find_if(forms.begin(), forms.end(), [&](const CollectiveForm& f) {
      return f.protocol == form.protocol;
    });
    if (same == forms.end()) throw Bug("a sister group that cannot do as the others");
    std::vector<Load>& loads = found->second.emplace_back();
    for (const auto& [place, busy] : busiest_of(*same))
      loads.push_back({place, busy});
  }
  // A crowded node drives its links worse: what all groups together need is known.
  std::map<std::size_t, SecondsPerByte> sums;
  for (const std::vector<Load>& group : found->second) {
    for (const Load& load : group)
      sums[load.place] += load.busy;
  }
  const std::map<std::size_t, SecondsPerByte> together = busiest_of(form);
  for (std::vector<Load>& group : found->second) {
    for (Load& load : group) {
      const auto all = together.find(load.place);
      if (all != together.end()) load.busy *= all->second / sums.at(load.place);
    }
  }
  return found->second;
}

std::optional<SharedTransfer> ConcurrentGroups::transfer(const CollectiveForm& form,
                                                         Bytes payload) {
  if (form.terms.empty() || form.terms.back().stage > 0) return std::nullopt;
  const GroupLoads& loads = loads_of(form);
  FluidShare share;
  for (std::size_t p = 0; p < places_.size(); ++p)
    share.add_edge(graph_->edge(places_.example(p)).capacity);
  std::vector<Running> running;
  for (const std::vector<Load>& group : loads) {
    FluidFlow flow;
    for (const Load& load : group) {
      const FluidEdgeId edge{load.place};
      flow.weights.push_back({edge, load.busy * share.capacity(edge)});
    }
    running.push_back({share.start(std::move(flow)), payload});
  }
  SharedTransfer result;
  std::optional<FluidEdgeId> last; // that held somebody back
  while (!running.empty()) {
    share.settle();
    last = share.bottleneck(running.back().flow);
    result.slowest += run_until_one_ends(share, running, payload);
    if (!(result.fastest > Seconds{0})) result.fastest = result.slowest;
  }
  if (last) {
    result.edge = places_.example(last->at());
    result.groups = static_cast<int>(std::count_if(
        loads.begin(), loads.end(), [&](const auto& group) { return uses(group, last->at()); }));
  }
  return result;
}

} // namespace clustersim
