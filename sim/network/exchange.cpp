#include "network/exchange.hpp"

namespace clustersim {

namespace {

/// Nodes of a group that look alike: how many, and two of them.
struct Crowd {
  double count = 0.0;
  NodeNumber first = 0, last = 0;
  void add(NodeNumber node) {
    if (count <= 0.0) first = node;
    last = node;
    ++count;
  }
};

/// A group's nodes by set of places and shape of site, also by pod and by unit.
class Census {
public:
  struct Kind {
    Segment example;
    std::uint32_t shape = 0;
  };
  Census(const LinkGraph& graph, std::span<const Segment> group) : graph_(graph) {
    for (const Segment& segment : group) {
      const NodeSite site = site_of(segment.node);
      Entry& entry = all_[{segment.places, site.shape}];
      if (entry.crowd.count <= 0.0) entry.kind = {segment, site.shape};
      entry.crowd.add(segment.node);
      pods_[{segment.places, site.shape, site.pod}].add(segment.node);
      units_[{segment.places, group_of(segment.node)}].add(segment.node);
    }
  }

  /// Calls visit(kind, example, count) for each sort of fellow of a node. Nodes come in order and
  /// those of a unit or pod side by side, so of a crowd that leaves a unit the first or the last
  /// node is outside it.
  template <class Visit>
  void for_each_sort(const Segment& own, const Visit& visit) const {
    const NodeNumber node = own.node;
    const NodeSite site = site_of(node);
    const std::uint32_t unit = group_of(node);
    for (const auto& found_entry : all_) {
      const std::uint32_t places = found_entry.first.first;
      const Entry& entry = found_entry.second;
      const bool same = site.shape == entry.kind.shape;
      const Crowd pod = same ? found(pods_, {places, site.shape, site.pod}) : Crowd{};
      const Crowd near = same ? found(units_, {places, unit}) : Crowd{};
      const double itself = same && places == own.places ? 1.0 : 0.0;
      const auto tell = [&](const Crowd& crowd, bool first_is_inside, double count) {
        if (count > 0.0) visit(entry.kind, first_is_inside ? crowd.last : crowd.first, count);
      };
      tell(entry.crowd, same && site_of(entry.crowd.first).pod == site.pod,
           entry.crowd.count - pod.count);
      tell(pod, pod.count > 0.0 && group_of(pod.first) == unit, pod.count - near.count);
      tell(near, near.first == node, near.count - itself);
    }
  }

private:
  struct Entry {
    Kind kind;
    Crowd crowd;
  };
  [[nodiscard]] NodeSite site_of(NodeNumber node) const {
    return node < graph_.nodes().size() ? graph_.site(graph_.nodes()[node].group) : NodeSite{};
  }
  [[nodiscard]] std::uint32_t group_of(NodeNumber node) const {
    return node < graph_.nodes().size() ? graph_.nodes()[node].group.value : 0;
  }
  template <class Map>
  static Crowd found(const Map& map, const typename Map::key_type& key) {
    const auto entry = map.find(key);
    return entry == map.end() ? Crowd{} : entry->second;
  }

  const LinkGraph& graph_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Entry> all_;                  // places, shape
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Crowd> pods_; // …, pod
  std::map<std::pair<std::uint32_t, std::uint32_t>, Crowd> units_;                // places, unit
};

} // namespace

BundleId Exchange::bundle(const Segment& from, const Segment& to, bool same, double bytes) {
  const auto [found, fresh] = bundles_.try_emplace({from.places, to.places, same});
  if (!fresh) return found->second;
  std::vector<PlaceFlow> flows;
  const Places &sources = layout_->places(from), &targets = layout_->places(to);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (std::size_t j = 0; j < targets.size(); ++j) {
      const bool peer = peers_ == Peers::all ? !same || i != j : !same && i == j;
      if (peer) flows.push_back({sources[i], targets[j], bytes});
    }
  }
  return found->second = traffic_->bundle(std::move(flows));
}

void Exchange::add(std::span<const Segment> group, double bytes) {
  const Census census(*graph_, group);
  for (const Segment& own : group) {
    traffic_->move(own.node, own.node, bundle(own, own, true, bytes));
    if (group.size() == 1) continue;
    census.for_each_sort(own, [&](const Census::Kind& kind, NodeNumber example, double count) {
      traffic_->send(own.node, example, bundle(own, kind.example, false, bytes), count);
      traffic_->receive(example, own.node, bundle(kind.example, own, false, bytes), count);
    });
  }
}

void Shift::add(std::span<const Segment> group, double bytes) {
  for (std::size_t k = 0; k < group.size(); ++k) {
    const Segment &here = group[k], &next = group[(k + 1) % group.size()];
    const Places& places = layout_->places(here);
    const auto [inside, new_inside] = inside_.try_emplace({here.places, bytes});
    if (new_inside) {
      std::vector<PlaceFlow> flows;
      for (std::size_t i = 0; i + 1 < places.size(); ++i)
        flows.push_back({places[i], places[i + 1], bytes});
      inside->second = traffic_->bundle(std::move(flows));
    }
    traffic_->move(here.node, here.node, inside->second);
    const auto [across, new_across] = across_.try_emplace({here.places, next.places, bytes});
    if (new_across) {
      const std::uint32_t to = layout_->places(next).front();
      across->second = traffic_->bundle(std::vector<PlaceFlow>{{places.back(), to, bytes}});
    }
    traffic_->move(here.node, next.node, across->second);
  }
}

} // namespace clustersim
