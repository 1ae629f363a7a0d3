// Recursive halving and doubling (Rabenseifner; Thakur, Rabenseifner, Gropp, "Optimization of
// collective communication operations in MPICH", 2005): in step k of the reduce-scatter a rank
// swaps half of what it still holds with the rank 2^k away, S/2^(k+1); the all-gather goes back the
// same way.
//
//   all-reduce 2·log2(n) steps, 2(n−1)/n bytes per payload byte and rank    (half for one of the
//   two)
//
// Near ranks swap first, so that the large pieces stay inside the node. Steps follow one another:
// while a pair of nodes swaps, the links inside are idle. Powers of two only.

#include "network/algorithms.hpp"
#include "network/traffic.hpp"

#include <bit>
#include <map>

namespace clustersim {

namespace {

using Group = std::span<const Segment>;

/// One step of all groups; ranks that stay idle (there are none for powers of two) would be
/// skipped.
class SwapStep {
public:
  SwapStep(Traffic& traffic, const Layout& layout, std::size_t distance, double bytes)
      : traffic_(traffic), layout_(layout), distance_(distance), bytes_(bytes) {}

  void add(Group group) {
    const std::size_t g = layout_.size(group.front());
    for (std::size_t k = 0; k < group.size(); ++k) {
      const Segment& own = group[k];
      const Segment& other = distance_ < g ? own : group[k ^ (distance_ / g)];
      traffic_.move(own.node, other.node, bundle(own, other, distance_ < g ? distance_ : 0));
    }
  }

private:
  BundleId bundle(const Segment& from, const Segment& to, std::size_t inside) {
    const auto [found, fresh] = bundles_.try_emplace({from.places, to.places});
    if (!fresh) return found->second;
    std::vector<PlaceFlow> flows;
    for (std::size_t i = 0; i < layout_.size(from); ++i)
      flows.push_back({layout_.places(from)[i], layout_.places(to)[i ^ inside], bytes_});
    return found->second = traffic_.bundle(std::move(flows));
  }

  Traffic& traffic_;
  const Layout& layout_;
  std::size_t distance_;
  double bytes_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, BundleId> bundles_;
};

RankId rank_at(const Layout& layout, const Router& router, std::size_t number) {
  const Group group = layout.group(0);
  const std::size_t g = layout.size(group.front());
  const Segment& segment = group[number / g];
  return router.rank(segment.node, layout.places(segment)[number % g]);
}

bool balanced(const Layout& layout) {
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    const Group group = layout.group(i);
    if (!layout.even(group) || !std::has_single_bit(layout.size(group.front()))) return false;
  }
  return true;
}

} // namespace

Forms halving_doubling_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                             GroupFamily family) {
  const double phases = phases_of(kind);
  if (phases <= 0.0) return {};
  if (family.size < 2 || !std::has_single_bit(static_cast<unsigned>(family.size))) return {};
  const Layout layout(graph, router, family);
  if (!balanced(layout)) return {};
  std::vector<Traffic> stages;
  double held = 1.0;
  for (std::size_t distance = 1; distance < static_cast<std::size_t>(family.size); distance *= 2) {
    held /= 2.0;
    Traffic& traffic = stages.emplace_back(graph, router, layout);
    traffic.local = 1.0 / family.size;
    SwapStep step(traffic, layout, distance, phases * held);
    for (std::size_t i = 0; i < layout.groups(); ++i)
      step.add(layout.group(i));
    traffic.serial.push_back(
        {rank_at(layout, router, 0), rank_at(layout, router, distance), phases, phases});
  }
  return forms_of(graph, "halving-doubling", stages, ring_protocols(graph));
}

} // namespace clustersim
