#pragma once
// Sister groups that start at the same moment and share the links by the fluid law
// (docs/explanation/contention.md). Groups that lie alike take what their added loads take; unlike
// ones (some behind the same PCIe switch, some on a bridge of their own) end at different times,
// and what ended leaves its share to the others.

#include "network/collective.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace clustersim {

/// Edges that look alike in like nodes are one place; all others are places of their own.
class EdgePlaces {
public:
  explicit EdgePlaces(const LinkGraph& graph);
  [[nodiscard]] std::size_t place_of(EdgeId edge);
  [[nodiscard]] std::size_t size() const { return first_.size(); }
  /// An edge that lies there.
  [[nodiscard]] EdgeId example(std::size_t place) const { return first_[place]; }

private:
  const LinkGraph* graph_;
  std::vector<std::size_t> first_edges_;                               // of the nodes
  std::map<std::pair<std::uint32_t, std::size_t>, std::size_t> known_; // by kind of node, edge
  std::vector<EdgeId> first_;
};

/// The transfers alone, without launch and steps.
struct SharedTransfer {
  Seconds fastest, slowest;   // groups
  std::optional<EdgeId> edge; // that holds the slowest back in the end
  int groups = 0;             // that use it
};

class ConcurrentGroups {
public:
  /// `family.groups` of them.
  ConcurrentGroups(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family);
  /// All groups by this algorithm and protocol. Nothing when its stages follow one another: groups
  /// then meet stage by stage, and the added loads say how long that takes.
  [[nodiscard]] std::optional<SharedTransfer> transfer(const CollectiveForm& form, Bytes payload);

private:
  struct Load {
    std::size_t place = 0;
    SecondsPerByte busy;
  };
  using GroupLoads = std::vector<std::vector<Load>>;
  [[nodiscard]] static bool uses(const std::vector<Load>& group, std::size_t place);
  std::map<std::size_t, SecondsPerByte> busiest_of(const CollectiveForm& form);
  const GroupLoads& loads_of(const CollectiveForm& form);

  const LinkGraph* graph_;
  Router* router_;
  CollectiveKind kind_;
  GroupFamily family_;
  EdgePlaces places_;
  std::map<std::pair<std::string, std::string>, GroupLoads> known_;
};

} // namespace clustersim
