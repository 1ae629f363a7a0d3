#include "network/traffic.hpp"

#include "base/bug.hpp"

#include <algorithm>

namespace clustersim {

std::vector<PlaceFlow> place_by_place(const Places& from, const Places& to, double bytes) {
  std::vector<PlaceFlow> flows;
  flows.reserve(from.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    flows.push_back({from[i], to[i], bytes});
  return flows;
}

std::uint32_t kind_of_node(const LinkGraph& graph, NodeNumber node) {
  return node < graph.nodes().size() ? graph.nodes()[node].shape.value : node;
}

BundleId Traffic::bundle(std::vector<PlaceFlow> flows) {
  bundles_.push_back({std::move(flows), {}});
  return BundleId{bundles_.size() - 1};
}

BundleId Traffic::bundle(std::vector<EdgeFlow> flows) {
  bundles_.push_back({{}, std::move(flows)});
  return BundleId{bundles_.size() - 1};
}

Traffic::Flow Traffic::resolved(const std::vector<PlaceFlow>& bundle, RelationId relation) const {
  Flow flow;
  std::array<std::map<std::pair<std::uint32_t, Driver>, double>, RoutePattern::bases> sums;
  const Relation nodes = router_->example(relation);
  for (const PlaceFlow& one : bundle) {
    if (nodes.from == nodes.to && one.from == one.to) continue;
    const RoutePattern& pattern = router_->pattern(relation, one.from, one.to);
    const Driver driver{pattern.transport, pattern.through_root};
    for (const RoutePattern::Hop& hop : pattern.hops_taken) {
      sums[static_cast<std::size_t>(hop.base)][{hop.offset, driver}] += one.bytes * hop.share;
    }
  }
  for (std::size_t base = 0; base < sums.size(); ++base) {
    for (const auto& [where, bytes] : sums[base])
      flow.parts[base].push_back({where.first, where.second, bytes});
  }
  return flow;
}

std::size_t Traffic::flow_of(BundleId bundle, NodeNumber from, NodeNumber to) {
  const RelationId relation = router_->relation(from, to);
  const std::uint64_t key = (std::uint64_t{bundle.value} << 32) | relation.value;
  const auto [found, fresh] = flow_ids_.try_emplace(key, flows_.size());
  if (!fresh) return found->second;
  const Bundle& made = bundles_[bundle.at()];
  flows_.push_back(resolved(made.flows, relation));
  for (const EdgeFlow& edge : made.edges) {
    flows_.back().parts[static_cast<std::size_t>(RoutePattern::Base::source)].push_back(
        {edge.edge, {edge.transport, false}, edge.bytes});
  }
  return found->second;
}

void Traffic::enter(NodeNumber node, std::size_t flow, bool receives, double times) {
  using enum RoutePattern::Base;
  const auto part = static_cast<std::uint32_t>(2 * flow + (receives ? 1 : 0));
  const auto touches = [&](RoutePattern::Base base) {
    return !flows_[flow].parts[static_cast<std::size_t>(base)].empty();
  };
  if (touches(receives ? target : RoutePattern::Base::source))
    nodes_.push_back({node, part, times});
  if (node >= graph_->nodes().size()) return;
  const NodeGroupId group = graph_->nodes()[node].group;
  if (touches(receives ? target_unit : source_unit)) units_.push_back({group.value, part, times});
  if (touches(receives ? target_pod : source_pod)) {
    const std::uint32_t pod = graph_->site(group).pod_edge.value;
    auto known = std::find(pod_blocks_.rbegin(), pod_blocks_.rend(), pod);
    if (known == pod_blocks_.rend()) {
      pod_blocks_.push_back(pod);
      known = pod_blocks_.rbegin();
    }
    const auto block = static_cast<std::uint32_t>(pod_blocks_.rend() - known - 1);
    pods_.push_back({block, part, times});
  }
}

void Traffic::send(NodeNumber from, NodeNumber example, BundleId bundle, double times) {
  const std::size_t flow = flow_of(bundle, from, example);
  flows_[flow].times += times;
  enter(from, flow, false, times);
}

void Traffic::receive(NodeNumber example, NodeNumber to, BundleId bundle, double times) {
  if (example == to) return; // one node: all its edges are the sender's
  enter(to, flow_of(bundle, example, to), true, times);
}

void Traffic::move(NodeNumber from, NodeNumber to, BundleId bundle, double times) {
  send(from, to, bundle, times);
  receive(from, to, bundle, times);
}

std::vector<ProtocolChoice> ring_protocols(const LinkGraph& graph, bool tree) {
  std::vector<ProtocolChoice> choices;
  for (const Link& link : graph.link_classes()) {
    for (const Protocol& protocol : link.protocols) {
      const std::string& name = protocol.name;
      const bool other =
          name.starts_with("in-switch") || name.starts_with("direct") || name == "all-pairs";
      if (other) continue;
      const bool known = std::any_of(choices.begin(), choices.end(),
                                     [&](const ProtocolChoice& c) { return c.name == name; });
      if (!known) choices.push_back({name, "bulk", tree});
    }
  }
  if (choices.empty()) choices.push_back({"bulk", "bulk", tree});
  return choices;
}

std::vector<ProtocolChoice> direct_protocols() {
  return {{"direct-low-latency", "low-latency"}, {"direct", "bulk"}};
}

} // namespace clustersim
