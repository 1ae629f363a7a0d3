#include "network/layout.hpp"

#include "base/bug.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

namespace {

/// The numbers behind a family of groups.
class Tiling {
public:
  Tiling(std::size_t chips, GroupFamily family)
      : size_(static_cast<std::size_t>(std::max(family.size, 0))),
        stride_(static_cast<std::size_t>(std::max(family.stride, 0))) {
    block_ = family.block > 0 ? static_cast<std::size_t>(family.block) : size_;
    extent_ = block_ * stride_;
    const bool one = family.block == 0;
    block_stride_ = one ? extent_ : static_cast<std::size_t>(std::max(family.block_stride, 0));
    const std::size_t tiles = extent_ == 0 ? 0 : block_stride_ / extent_;
    if (tiles == 0 || size_ % block_ != 0) {
      throw Bug(fmt::format("group of {} ranks, stride {}, blocks of {} every {}", family.size,
                            family.stride, family.block, family.block_stride));
    }
    span_ = size_ / block_ * block_stride_;
    per_span_ = tiles * stride_;
    first_ = std::min(chips, static_cast<std::size_t>(std::max(family.first, 0)));
    std::size_t world = chips - first_;
    if (family.ranks > 0) world = std::min(world, static_cast<std::size_t>(family.ranks));
    count_ = world / span_ * per_span_;
    if (count_ == 0) {
      throw Bug(fmt::format("group of {} ranks over {} chips, of {}", size_, span_, world));
    }
    first_group_ = std::min(count_, static_cast<std::size_t>(std::max(family.first_group, 0)));
    count_ -= first_group_;
    if (family.groups > 0) count_ = std::min(count_, static_cast<std::size_t>(family.groups));
  }
  [[nodiscard]] std::size_t first_group() const { return first_group_; }
  [[nodiscard]] std::size_t count() const { return count_; }

  template <class Visit>
  void for_each_rank(std::size_t group, const Visit& visit) const {
    const std::size_t sister = group % per_span_;
    const std::size_t base =
        first_ + group / per_span_ * span_ + sister / stride_ * extent_ + sister % stride_;
    for (std::size_t first = 0, at = base; first < size_; first += block_, at += block_stride_) {
      for (std::size_t i = 0; i < block_; ++i)
        visit(RankId{at + i * stride_});
    }
  }

private:
  std::size_t size_, stride_;
  std::size_t block_ = 1, extent_ = 1, block_stride_ = 1; // a block's ranks, chips, distance
  std::size_t span_ = 1, per_span_ = 1; // chips from first to last of a group, groups in them
  std::size_t first_ = 0;               // chip
  std::size_t first_group_ = 0, count_ = 0;
};

} // namespace

std::uint32_t Layout::place_set(const Places& places) {
  // Nodes one after another mostly hold the same places.
  if (!segments_.empty() && place_sets_[segments_.back().places] == places) {
    return segments_.back().places;
  }
  const auto [found, fresh] =
      known_.try_emplace(places, static_cast<std::uint32_t>(place_sets_.size()));
  if (fresh) place_sets_.push_back(places);
  return found->second;
}

Layout::Layout(const LinkGraph& graph, const Router& router, GroupFamily family) : first_{0} {
  const Tiling tiling(graph.chips().size(), family);
  std::vector<int> held(router.nodes(), 0);
  Places places;
  for (std::size_t i = 0; i < tiling.count(); ++i) {
    NodeNumber node = 0;
    std::size_t first_chip = 0;
    const auto close = [&] {
      if (places.empty()) return;
      segments_.push_back({node, place_set(places)});
      most_in_node_ = std::max(most_in_node_, held[node] += static_cast<int>(places.size()));
      places.clear();
    };
    tiling.for_each_rank(tiling.first_group() + i, [&](RankId rank) {
      const NodeNumber now = router.node(rank);
      if (places.empty() || now != node) {
        close();
        node = now;
        first_chip = router.first_chip(now);
      }
      places.push_back(static_cast<std::uint32_t>(rank.at() - first_chip));
    });
    close();
    first_.push_back(segments_.size());
  }
}

bool Layout::even(std::span<const Segment> group) const {
  return std::all_of(group.begin(), group.end(), [&](const Segment& s) {
    return s.places == group.front().places || size(s) == size(group.front());
  });
}

} // namespace clustersim
