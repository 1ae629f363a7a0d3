#pragma once
// Where the ranks of every sister group sit: nodes, and places in them. Algorithms speak of nodes
// and sets of places, so that what holds for one node is worked out once.

#include "network/collective.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace clustersim {

/// The ranks of a group in one node.
struct Segment {
  NodeNumber node = 0;
  std::uint32_t places = 0; // which set of places (Layout::places)
};
using Places = std::vector<std::uint32_t>; // chips of a node by number, ascending

/// Groups tile the world, or the part of it that their family names: base ranks are the first
/// `stride` ranks of each tile of size · stride (of a block in place of the size, where there are
/// blocks). Ranks beyond the last whole tile stay idle.
class Layout {
public:
  Layout(const LinkGraph& graph, const Router& router, GroupFamily family);
  [[nodiscard]] std::size_t groups() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const Segment> group(std::size_t number) const {
    return std::span(segments_).subspan(first_[number], first_[number + 1] - first_[number]);
  }
  [[nodiscard]] const Places& places(const Segment& segment) const {
    return place_sets_[segment.places];
  }
  [[nodiscard]] std::size_t size(const Segment& segment) const { return places(segment).size(); }
  /// Ranks at work in the fullest node, of all groups together.
  [[nodiscard]] int most_in_node() const { return most_in_node_; }
  /// The same number of ranks in each node of a group?
  [[nodiscard]] bool even(std::span<const Segment> group) const;

private:
  std::uint32_t place_set(const Places& places);

  std::vector<Segment> segments_;
  std::vector<std::size_t> first_; // of each group, and the end
  std::vector<Places> place_sets_;
  std::map<Places, std::uint32_t> known_;
  int most_in_node_ = 0;
};

} // namespace clustersim
