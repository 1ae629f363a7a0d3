// Torus: a ring on every axis, all of them busy at once ("bucket" algorithm; A. Jain and others;
// jax-ml/scaling-book, "How to scale your model", sharded matrices).
//
// The payload is cut into 2K parts for K axes of the group: one for each axis to begin with and
// each direction around it. A part is gathered (or scattered) axis by axis; on an axis of k members
// each passes on (k − 1)/k of what it holds by then. So each link carries
//
//   all-gather, reduce-scatter   (n−1)/n / 2K of the payload (equal axes), all-reduce twice that
//
// and each axis costs k/2 hops one after another where it closes, k − 1 where it does not. An axis
// that does not close carries the ring's return path on the same links: half the bandwidth.
// All-to-all goes by the shorter way on each axis in turn: k/8 of a rank's buffer per link of a
// closed axis.

#include "base/bug.hpp"
#include "network/algorithms.hpp"
#include "network/traffic.hpp"

#include <algorithm>
#include <set>

namespace clustersim {

namespace {

/// One axis as the group sees it: `members` of its places, `spacing` apart.
struct GroupAxis {
  std::size_t axis = 0, members = 1, spacing = 1, stride = 1, extent = 1;
  bool wraps = false;
  [[nodiscard]] bool closes() const { return wraps && members * spacing == extent; }
};

class TorusNode {
public:
  TorusNode(const LinkGraph& graph, const NodeBlock& node)
      : graph_(graph), node_(node), axes_(graph.torus(node.shape)) {}

  [[nodiscard]] std::size_t place(RankId rank) const { return rank.at() - node_.first_chip.at(); }
  /// The group's axes of two and more members; nothing when its ranks form no box.
  [[nodiscard]] std::vector<GroupAxis> box(const std::vector<RankId>& members) const;
  /// From a place along an axis, `steps` places up (or down); calls visit(edge) for each link.
  template <class Visit>
  void walk(std::size_t from, const GroupAxis& axis, std::size_t steps, bool up,
            const Visit& visit) const;

private:
  [[nodiscard]] EdgeId edge_to(std::size_t from, std::size_t to) const;

  const LinkGraph& graph_;
  const NodeBlock& node_;
  const std::vector<TorusAxis>& axes_;
};

std::vector<GroupAxis> TorusNode::box(const std::vector<RankId>& members) const {
  std::vector<GroupAxis> found;
  std::size_t stride = 1, volume = 1;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto extent = static_cast<std::size_t>(axes_[a].extent);
    std::set<std::size_t> coordinates;
    for (const RankId rank : members)
      coordinates.insert(place(rank) / stride % extent);
    GroupAxis axis{a, coordinates.size(), 1, stride, extent, axes_[a].wraps};
    if (axis.members > 1) {
      const std::size_t first = *coordinates.begin(), last = *coordinates.rbegin();
      axis.spacing = (last - first) / (axis.members - 1);
      std::size_t expected = first;
      for (const std::size_t c : coordinates) {
        if (c != expected) return {};
        expected += axis.spacing;
      }
      found.push_back(axis);
    }
    volume *= axis.members;
    stride *= extent;
  }
  return volume == members.size() ? found : std::vector<GroupAxis>{};
}

EdgeId TorusNode::edge_to(std::size_t from, std::size_t to) const {
  const VertexId target = graph_.chips()[node_.first_chip.at() + to];
  for (const EdgeId e : graph_.out_edges(graph_.chips()[node_.first_chip.at() + from])) {
    if (graph_.edges()[e.at()].to == target) return e;
  }
  throw Bug("neighbours on a torus without a link");
}

template <class Visit>
void TorusNode::walk(std::size_t from, const GroupAxis& axis, std::size_t steps, bool up,
                     const Visit& visit) const {
  std::size_t at = from;
  for (std::size_t s = 0; s < steps; ++s) {
    const std::size_t c = at / axis.stride % axis.extent;
    const std::size_t next = up ? (c + 1) % axis.extent : (c + axis.extent - 1) % axis.extent;
    const std::size_t to = at - c * axis.stride + next * axis.stride;
    visit(edge_to(at, to));
    at = to;
  }
}

class TorusLoads {
public:
  TorusLoads(const LinkGraph& graph, const NodeBlock& node, Traffic& traffic)
      : graph_(graph), torus_(graph, node), traffic_(traffic) {}

  /// False when the group is no box.
  bool add_rings(const std::vector<RankId>& members, double phases);
  bool add_all_to_all(const std::vector<RankId>& members);

private:
  void add_ring(const std::vector<RankId>& members, const GroupAxis& axis, double bytes, bool up);
  void carry(EdgeId edge, double bytes) {
    traffic_.load.add(graph_.edges()[edge.at()].link_class, edge, bytes);
  }

  const LinkGraph& graph_;
  TorusNode torus_;
  Traffic& traffic_;
};

void TorusLoads::add_ring(const std::vector<RankId>& members, const GroupAxis& axis, double bytes,
                          bool up) {
  for (const RankId rank : members) {
    const std::size_t place = torus_.place(rank);
    const std::size_t first = torus_.place(members.front()) / axis.stride % axis.extent;
    const std::size_t i = (place / axis.stride % axis.extent - first) / axis.spacing;
    const bool end = i == (up ? axis.members - 1 : 0);
    const bool back = end && !axis.closes(); // the ring's return path along the line
    const std::size_t steps = back ? (axis.members - 1) * axis.spacing : axis.spacing;
    torus_.walk(place, axis, steps, back ? !up : up, [&](EdgeId e) { carry(e, bytes); });
  }
}

bool TorusLoads::add_rings(const std::vector<RankId>& members, double phases) {
  const std::vector<GroupAxis> axes = torus_.box(members);
  if (axes.empty()) return false;
  const double part = phases / (2.0 * static_cast<double>(axes.size()));
  for (std::size_t a = 0; a < axes.size(); ++a) {
    // What the parts that begin at each axis still hold when they come to this one.
    double bytes = 0.0;
    for (std::size_t begin = 0; begin < axes.size(); ++begin) {
      double held = part;
      for (std::size_t s = begin; s % axes.size() != a; ++s)
        held /= static_cast<double>(axes[s % axes.size()].members);
      bytes += held;
    }
    const auto k = static_cast<double>(axes[a].members);
    add_ring(members, axes[a], bytes * (k - 1) / k, true);
    add_ring(members, axes[a], bytes * (k - 1) / k, false);
    const double steps = axes[a].closes() ? std::max(1.0, k / 2) : k - 1;
    std::size_t next = 1;
    for (std::size_t b = 0; b < a; ++b)
      next *= axes[b].members;
    traffic_.serial.push_back({members[0], members[next], phases * steps, phases * steps});
  }
  return true;
}

bool TorusLoads::add_all_to_all(const std::vector<RankId>& members) {
  const std::vector<GroupAxis> axes = torus_.box(members);
  if (axes.empty()) return false;
  for (const GroupAxis& axis : axes) {
    const double share = 1.0 / static_cast<double>(axis.members);
    const std::size_t first = torus_.place(members.front()) / axis.stride % axis.extent;
    for (const RankId rank : members) {
      const std::size_t place = torus_.place(rank);
      const std::size_t i = (place / axis.stride % axis.extent - first) / axis.spacing;
      for (std::size_t j = 0; j < axis.members; ++j) {
        const std::size_t up = (j + axis.members - i) % axis.members, down = axis.members - up;
        if (up == 0) continue;
        const auto go = [&](std::size_t steps, bool rising, double bytes) {
          torus_.walk(place, axis, steps * axis.spacing, rising,
                      [&](EdgeId e) { carry(e, bytes); });
        };
        if (!axis.closes()) {
          go(j > i ? j - i : i - j, j > i, share);
        } else if (up == down) {
          go(up, true, share / 2);
          go(down, false, share / 2);
        } else {
          go(std::min(up, down), up < down, share);
        }
      }
    }
  }
  for (std::size_t a = 0, next = 1; a < axes.size(); next *= axes[a++].members) {
    const auto k = static_cast<double>(axes[a].members);
    traffic_.serial.push_back(
        {members[0], members[next], 1.0, axes[a].closes() ? std::max(1.0, k / 2) : k - 1});
  }
  return true;
}

} // namespace

Forms torus_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family) {
  const bool all = kind == CollectiveKind::all_to_all;
  const bool twice = kind == CollectiveKind::all_reduce;
  if (!all && !twice && kind != CollectiveKind::all_gather &&
      kind != CollectiveKind::reduce_scatter) {
    return {};
  }
  const GroupRange groups(graph, family);
  Traffic traffic(graph);
  traffic.local = 1.0 / family.size;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::vector<RankId> members = groups.members(i);
    const int node = graph.node_of(members.front());
    if (node < 0 || node != graph.node_of(members.back())) return {};
    const NodeBlock& block = graph.nodes()[static_cast<std::size_t>(node)];
    if (graph.torus(block.shape).empty()) return {};
    traffic.serial.clear(); // of one group; its sisters look alike
    TorusLoads loads(graph, block, traffic);
    const bool box = all ? loads.add_all_to_all(members) : loads.add_rings(members, twice ? 2 : 1);
    if (!box) return {};
  }
  return all ? forms_of(graph, router, "torus", traffic,
                        {{"direct-low-latency", "low-latency"}, {"direct", "bulk"}})
             : forms_of(graph, router, "torus", traffic, ring_protocols(graph));
}

} // namespace clustersim
