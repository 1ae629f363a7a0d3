#pragma once
// Rings inside a node, over the ranks that a group has there.

#include "network/traffic.hpp"

#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace clustersim {

/// Each member of a segment sends `bytes` to its fellows: all of them to the next in rank order,
/// evenly to every one (the average over all rings that a full mesh carries side by side), or along
/// the rings that are packed into its links.
enum class RingOrder { by_rank, spread, packed };

/// One of each sort of segment: unlike nodes, or other places of them.
[[nodiscard]] std::vector<Segment> sorts_of(const LinkGraph& graph, std::span<const Segment> group);

/// Spreading helps only where chips have links of their own to several fellows, packing where not
/// all of them have the same; in unlike nodes either may.
[[nodiscard]] std::vector<RingOrder> ring_orders(const LinkGraph& graph, const Router& router,
                                                 const Layout& layout,
                                                 std::span<const Segment> group);

/// Links that places of a node have of their own to each other, in units of the thinnest.
[[nodiscard]] LinkMatrix own_links(const LinkGraph& graph, const Router& router, NodeNumber node,
                                   const Places& places);

/// The rings of all segments that an algorithm meets, each kind worked out once.
class NodeRings {
public:
  NodeRings(const LinkGraph& graph, Traffic& traffic, const Layout& layout, RingOrder order)
      : graph_(&graph), traffic_(&traffic), layout_(&layout), order_(order) {}
  /// Every member of the segment passes on so many bytes.
  void add(const Segment& segment, double bytes);
  /// The members in the order of the first ring.
  [[nodiscard]] const Places& order_of(const Segment& segment);
  [[nodiscard]] const std::vector<Cycle>& cycles(const Segment& segment);

private:
  using Key = std::pair<std::uint32_t, std::uint32_t>; // shape of the node, places
  [[nodiscard]] Key key_of(const Segment& segment) const;
  [[nodiscard]] std::vector<PlaceFlow> flows(const Segment& segment, double bytes);

  const LinkGraph* graph_;
  Traffic* traffic_;
  const Layout* layout_;
  RingOrder order_;
  std::map<std::pair<Key, double>, BundleId> bundles_;
  std::map<Key, std::vector<Cycle>> cycles_;
  std::map<Key, Places> orders_;
};

} // namespace clustersim
