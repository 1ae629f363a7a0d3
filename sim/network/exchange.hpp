#pragma once
// Flows of every rank to every other, and of every rank to the next.

#include "network/traffic.hpp"

#include <map>
#include <span>
#include <utility>

namespace clustersim {

/// All other ranks of a group, or those at the same place in the lists of other nodes.
enum class Peers { all, rail };

/// Every rank of a group sends so many bytes to each of its peers. Nodes are counted, not paired:
/// to a node its fellows of one unit are alike, so are those of its pod and those beyond.
class Exchange {
public:
  Exchange(const LinkGraph& graph, Traffic& traffic, const Layout& layout, Peers peers)
      : graph_(&graph), traffic_(&traffic), layout_(&layout), peers_(peers) {}
  void add(std::span<const Segment> group, double bytes);

private:
  BundleId bundle(const Segment& from, const Segment& to, bool same, double bytes);

  const LinkGraph* graph_;
  Traffic* traffic_;
  const Layout* layout_;
  Peers peers_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, bool>, BundleId> bundles_;
};

/// Every rank sends so many bytes to the next in order, the last to the first.
class Shift {
public:
  Shift(Traffic& traffic, const Layout& layout) : traffic_(&traffic), layout_(&layout) {}
  void add(std::span<const Segment> group, double bytes);

private:
  Traffic* traffic_;
  const Layout* layout_;
  std::map<std::pair<std::uint32_t, double>, BundleId> inside_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, double>, BundleId> across_;
};

} // namespace clustersim
