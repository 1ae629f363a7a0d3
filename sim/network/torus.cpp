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
#include <map>
#include <set>

namespace clustersim {

namespace {

constexpr std::uint32_t no_edge = 0xffffffff;

/// One axis as the group sees it: `members` of its places, `spacing` apart.
struct GroupAxis {
  std::size_t axis = 0, members = 1, spacing = 1, stride = 1, extent = 1;
  bool wraps = false;
  [[nodiscard]] bool closes() const { return wraps && members * spacing == extent; }
};

class TorusNode {
public:
  TorusNode(const LinkGraph& graph, const NodeBlock& node);

  /// The group's axes of two and more members; nothing when its places form no box.
  [[nodiscard]] std::vector<GroupAxis> box(const Places& members) const;
  /// From a place along an axis, `steps` places up (or down); calls visit(edge) for each link,
  /// counted from the node's first.
  template <class Visit>
  void walk(std::size_t from, const GroupAxis& axis, std::size_t steps, bool up,
            const Visit& visit) const;
  [[nodiscard]] std::size_t edges() const { return classes_.size(); }
  [[nodiscard]] LinkClassId link_class(std::size_t edge) const { return classes_[edge]; }

private:
  const std::vector<TorusAxis>& axes_;
  std::vector<std::uint32_t> next_; // edge from (place · axes + axis) · 2 + (1 where down)
  std::vector<LinkClassId> classes_;
};

TorusNode::TorusNode(const LinkGraph& graph, const NodeBlock& node)
    : axes_(graph.torus(node.shape)) {
  for (std::size_t e = 0; e < static_cast<std::size_t>(node.edges); ++e)
    classes_.push_back(graph.edge(EdgeId{node.first_edge.at() + e}).link_class);
  for (std::size_t place = 0; place < static_cast<std::size_t>(node.chips); ++place) {
    const VertexId chip = graph.chips()[node.first_chip.at() + place];
    std::map<std::size_t, std::uint32_t> to; // neighbour's place, the first link to it
    for (const EdgeId e : graph.out_edges(chip)) {
      const std::size_t other = graph.edge(e).to.at() - node.first_vertex.at();
      to.try_emplace(other, e.value - node.first_edge.value);
    }
    std::size_t stride = 1;
    for (const TorusAxis& axis : axes_) {
      const auto extent = static_cast<std::size_t>(axis.extent);
      const std::size_t c = place / stride % extent;
      for (const std::size_t next : {(c + 1) % extent, (c + extent - 1) % extent}) {
        const auto found = to.find(place - c * stride + next * stride);
        next_.push_back(found == to.end() ? no_edge : found->second);
      }
      stride *= extent;
    }
  }
}

std::vector<GroupAxis> TorusNode::box(const Places& members) const {
  std::vector<GroupAxis> found;
  std::size_t stride = 1, volume = 1;
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto extent = static_cast<std::size_t>(axes_[a].extent);
    std::set<std::size_t> coordinates;
    for (const std::size_t place : members)
      coordinates.insert(place / stride % extent);
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

template <class Visit>
void TorusNode::walk(std::size_t from, const GroupAxis& axis, std::size_t steps, bool up,
                     const Visit& visit) const {
  std::size_t at = from;
  for (std::size_t s = 0; s < steps; ++s) {
    const std::size_t c = at / axis.stride % axis.extent;
    const std::size_t next = up ? (c + 1) % axis.extent : (c + axis.extent - 1) % axis.extent;
    const std::size_t to = at - c * axis.stride + next * axis.stride;
    const std::uint32_t edge = next_[(at * axes_.size() + axis.axis) * 2 + (up ? 0 : 1)];
    if (edge == no_edge) throw Bug("neighbours on a torus without a link");
    visit(edge);
    at = to;
  }
}

/// What a group puts on the links of its torus, and one chain of its steps by places.
class TorusLoads {
public:
  struct Step {
    std::size_t from = 0, to = 0;
    double steps = 0.0, traversals = 0.0;
  };
  explicit TorusLoads(const TorusNode& torus) : torus_(torus), bytes_(torus.edges(), 0.0) {}

  /// False when the group is no box.
  bool add_rings(const Places& members, double phases);
  bool add_all_to_all(const Places& members);
  [[nodiscard]] std::vector<EdgeFlow> flows() const {
    std::vector<EdgeFlow> flows;
    for (std::size_t e = 0; e < bytes_.size(); ++e) {
      if (bytes_[e] <= 0.0) continue;
      flows.push_back({static_cast<std::uint32_t>(e), torus_.link_class(e), bytes_[e]});
    }
    return flows;
  }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

private:
  void add_ring(const Places& members, const GroupAxis& axis, double bytes, bool up);

  const TorusNode& torus_;
  std::vector<double> bytes_; // by edge
  std::vector<Step> steps_;
};

void TorusLoads::add_ring(const Places& members, const GroupAxis& axis, double bytes, bool up) {
  for (const std::size_t place : members) {
    const std::size_t first = members.front() / axis.stride % axis.extent;
    const std::size_t i = (place / axis.stride % axis.extent - first) / axis.spacing;
    const bool end = i == (up ? axis.members - 1 : 0);
    const bool back = end && !axis.closes(); // the ring's return path along the line
    const std::size_t steps = back ? (axis.members - 1) * axis.spacing : axis.spacing;
    torus_.walk(place, axis, steps, back ? !up : up, [&](std::uint32_t e) { bytes_[e] += bytes; });
  }
}

bool TorusLoads::add_rings(const Places& members, double phases) {
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
    steps_.push_back({members[0], members[next], phases * steps, phases * steps});
  }
  return true;
}

bool TorusLoads::add_all_to_all(const Places& members) {
  const std::vector<GroupAxis> axes = torus_.box(members);
  if (axes.empty()) return false;
  for (const GroupAxis& axis : axes) {
    const double share = 1.0 / static_cast<double>(axis.members);
    const std::size_t first = members.front() / axis.stride % axis.extent;
    for (const std::size_t place : members) {
      const std::size_t i = (place / axis.stride % axis.extent - first) / axis.spacing;
      for (std::size_t j = 0; j < axis.members; ++j) {
        const std::size_t up = (j + axis.members - i) % axis.members, down = axis.members - up;
        if (up == 0) continue;
        const auto go = [&](std::size_t steps, bool rising, double bytes) {
          torus_.walk(place, axis, steps * axis.spacing, rising,
                      [&](std::uint32_t e) { bytes_[e] += bytes; });
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
    steps_.push_back(
        {members[0], members[next], 1.0, axes[a].closes() ? std::max(1.0, k / 2) : k - 1});
  }
  return true;
}

} // namespace

Forms torus_forms(const LinkGraph& graph, Router& router, CollectiveKind kind, GroupFamily family) {
  const bool all = kind == CollectiveKind::all_to_all;
  const double phases = phases_of(kind);
  if (!all && phases <= 0.0) return {};
  const Layout layout(graph, router, family);
  Traffic traffic(graph, router, layout);
  traffic.local = 1.0 / family.size;
  std::map<NodeShapeId, TorusNode> tori;
  std::map<std::pair<NodeShapeId, std::uint32_t>, BundleId> bundles;
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    const std::span<const Segment> group = layout.group(i);
    const Segment& own = group.front();
    if (group.size() != 1 || own.node >= graph.nodes().size()) return {};
    const NodeBlock& block = graph.nodes()[own.node];
    if (graph.torus(block.shape).empty()) return {};
    const auto [found, fresh] = bundles.try_emplace({block.shape, own.places});
    if (fresh) {
      TorusLoads loads(tori.try_emplace(block.shape, graph, block).first->second);
      const Places& members = layout.places(own);
      const bool box = all ? loads.add_all_to_all(members) : loads.add_rings(members, phases);
      if (!box) return {};
      found->second = traffic.bundle(loads.flows());
      traffic.serial.clear(); // of one group; its sisters look alike
      for (const TorusLoads::Step& step : loads.steps()) {
        traffic.serial.push_back({router.rank(own.node, step.from), router.rank(own.node, step.to),
                                  step.steps, step.traversals});
      }
    }
    traffic.move(own.node, own.node, found->second);
  }
  return forms_of(graph, "torus", traffic, all ? direct_protocols() : ring_protocols(graph));
}

} // namespace clustersim
