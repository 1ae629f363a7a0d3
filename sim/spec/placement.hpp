#pragma once
// Which ranks of the cluster form a group of an axis. Chips are numbered node by node; the
// placement says which axis counts fastest (docs/explanation/placement.md). An axis of size z at
// place k of the order takes every Π(sizes before k)-th rank.

#include "spec/scenario.hpp"

#include <optional>
#include <string>

namespace clustersim {

/// Ranks base + ⌊i / block⌋·block_stride + (i mod block)·stride; block 0: all at one stride.
struct RankGroup {
  int size = 1, stride = 1;
  int block = 0, block_stride = 0;
  friend bool operator==(const RankGroup&, const RankGroup&) = default;
};

/// Groups that communicate. `replicas`: ranks that hold the same dense weights (data × context);
/// `expert_replicas`: the same experts.
enum class GroupKind {
  tensor,
  context,
  pipeline,
  expert,
  expert_tensor,
  replicas,
  expert_replicas
};

/// Every `step`-th member of a group, `count` of them (0: all that there are). Nothing where these
/// are not two nested runs of equal distance: validation refuses such plans.
[[nodiscard]] std::optional<RankGroup> rank_group(const Plan& plan, GroupKind kind, int step = 1,
                                                  int count = 0);

/// The order that a text such as "tensor, context, expert, data, pipeline" or "tp-cp-ep-dp-pp"
/// names, innermost first. Axes that it leaves out follow in the usual order. Nothing, and why, if
/// it names none or one twice.
[[nodiscard]] std::optional<Placement> parse_placement(const std::string& text, std::string& why);
[[nodiscard]] std::string placement_text(const Placement& placement);

} // namespace clustersim
