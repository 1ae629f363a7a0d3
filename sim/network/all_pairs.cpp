// All pairs at once, over a full mesh of links of their own: a gather sends each rank's share to
// all of its peers in one step, a scatter likewise, an all-reduce is both.
//
//   all-gather, reduce-scatter   one step, 1/n of the payload to each peer; all-reduce twice that
//
// Each link carries the same as under rings in all orders, at one step's latency in place of n−1.
// Intel's HCCL works so on the meshes of Gaudi; NCCL and RCCL do not, so that only links whose file
// has a protocol of this name are driven by it.

#include "network/algorithms.hpp"
#include "network/exchange.hpp"
#include "network/node_rings.hpp"

#include <algorithm>

namespace clustersim {

namespace {

constexpr const char* protocol_name = "all-pairs";

bool known_to_links(const LinkGraph& graph) {
  const std::vector<Link>& links = graph.link_classes();
  return std::any_of(links.begin(), links.end(), [](const Link& link) {
    return find_protocol(link, protocol_name) != nullptr;
  });
}

bool full_mesh(const LinkMatrix& links) {
  for (std::size_t a = 0; a < links.size(); ++a) {
    for (std::size_t b = 0; b < links.size(); ++b) {
      if (a != b && links[a][b] == 0) return false;
    }
  }
  return true;
}

} // namespace

Forms all_pairs_forms(const LinkGraph& graph, Router& router, CollectiveKind kind,
                      GroupFamily family) {
  const double phases = phases_of(kind);
  if (phases <= 0.0 || !known_to_links(graph)) return {};
  const Layout layout(graph, router, family);
  const Segment& first = layout.group(0).front();
  const Places& places = layout.places(first);
  if (places.size() < 2 || places.size() > most_ring_members ||
      !full_mesh(own_links(graph, router, first.node, places))) {
    return {};
  }
  Traffic traffic(graph, router, layout);
  traffic.local = 1.0 / family.size;
  Exchange exchange(graph, traffic, layout, Peers::all);
  for (std::size_t i = 0; i < layout.groups(); ++i) {
    const Segment& own = layout.group(i).front();
    const bool alike = kind_of_node(graph, own.node) == kind_of_node(graph, first.node);
    if (layout.group(i).size() != 1 || !alike) return {};
    exchange.add(layout.group(i), phases / family.size);
  }
  traffic.serial.push_back(
      {router.rank(first.node, places[0]), router.rank(first.node, places[1]), phases, phases});
  return forms_of(graph, protocol_name, traffic, {{protocol_name, protocol_name}});
}

} // namespace clustersim
