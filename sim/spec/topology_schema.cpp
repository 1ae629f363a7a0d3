#include "spec/schemas.hpp"

namespace clustersim {
namespace {

constexpr double tiny = 1e-9; // of fractions that must not be zero

const Schema<Protocol>& protocol_schema() {
  static const Schema<Protocol> schema = [] {
    Schema<Protocol> s{"protocol", "How a collective library drives a link", {}};
    add(s, "name", at(&Protocol::name), "low-latency, bulk, in-switch").required();
    add(s, "launch", at(&Protocol::launch), "fixed cost of starting").required().between(0, 10);
    add(s, "step", at(&Protocol::step), "per ring or tree step").required().between(0, 10);
    add(s, "bandwidth_fraction", at(&Protocol::bandwidth_fraction), "of the link's achieved rate")
        .between(tiny, 1)
        .because("all of it");
    add(s, "fill", at(&Protocol::fill), "pipeline fill: adds sqrt(fill x steady time)")
        .between(0, 10)
        .because("none");
    add(s, "tree_fraction", at(&Protocol::tree_fraction), "of that bandwidth in trees")
        .between(tiny, 1)
        .because("NCCL's tuner rates trees at 0.92 of a ring");
    add(s, "tree_step", at(&Protocol::tree_step), "in place of step in trees")
        .between(0, 10)
        .because("as step");
    return s;
  }();
  return schema;
}

using N = NodeInput;

template <class M>
auto node(M Node::*member) {
  return at(&N::node, member);
}
template <class G, class M>
auto node(G Node::*group, M G::*member) {
  return [ group, member ](auto& input) -> auto& {
    return (input.node.*group).*member;
  };
}

void add_node_links(Schema<N>& s) {
  using Up = Node::ScaleUp;
  using Host = Node::Host;
  add_choice(s, "scale_up.shape", node(&Node::scale_up, &Up::shape),
             Choices<std::string>{{"none", "none"},
                                  {"switched", "switched"},
                                  {"mesh", "mesh"},
                                  {"bridged", "bridged"},
                                  {"torus", "torus"},
                                  {"explicit", "explicit"}},
             "how chips of a node are joined beside PCIe")
      .because("PCIe only");
  add(s, "scale_up.link", at(&N::scale_up_link), "id of a link; needed unless the shape is none");
  add(s, "scale_up.links_per_chip", node(&Node::scale_up, &Up::links_per_chip), "how many per chip")
      .between(0, 1024)
      .because("none");
  add(s, "scale_up.in_network_reduction", node(&Node::scale_up, &Up::in_network_reduction),
      "the switch adds, as NVLink SHARP does")
      .because("not stated");
  add(s, "scale_up.torus", node(&Node::scale_up, &Up::torus),
      "extents such as \"4x4x4\", x first; \"2d\" or \"3d\": as near to a square or cube as "
      "node.chips allows");
  add(s, "scale_up.wrap", node(&Node::scale_up, &Up::wrap),
      "axes that close: all, none, \"xz\" or \"16\", those of a multiple of 16")
      .because("every axis of three and more closes to a ring");
  add(s, "scale_up.edges", node(&Node::scale_up, &Up::edges),
      "of an explicit shape: \"0-3 x2\" joins chips 0 and 3 by two links, \"0-s1\" chip 0 and "
      "switch s1");
  add(s, "host.sockets", node(&Node::host, &Host::sockets), "CPU sockets of a host")
      .between(1, 64)
      .because("one socket");
  add(s, "host.chips", node(&Node::host, &Host::chips),
      "chips that share a host, where the node is a rack or a slice; 0 = all of them")
      .between(0, 1024)
      .because("one host");
  add(s, "host.pcie", at(&N::pcie), "link from a chip to its socket or switch").required();
  add(s, "host.chips_per_switch", node(&Node::host, &Host::chips_per_switch),
      "chips that share one PCIe switch; 0 = none, straight to the socket")
      .between(0, 1024)
      .because("straight to the socket");
  add(s, "host.socket_link", at(&N::socket_link), "link between sockets; needed above one socket");
  add(s, "host.memory", at(&N::memory), "memory of one socket, as a link").required();
  add(s, "host.dram", node(&Node::host, &Host::dram),
      "what the cores of all sockets read and write together")
      .derived("the achieved rate of host.memory on all sockets");
  add(s, "host.capacity", node(&Node::host, &Host::capacity), "memory of all sockets")
      .between(0, 1e18)
      .because("not stated");
  add(s, "host.nvme_read", node(&Node::host, &Host::nvme_read), "of all local drives together")
      .between(0, 1e18)
      .because("not stated");
  add(s, "host.nvme_write", node(&Node::host, &Host::nvme_write), "of all local drives together")
      .between(0, 1e18)
      .because("not stated");
  add(s, "host.nvme_capacity", node(&Node::host, &Host::nvme_capacity), "of all local drives")
      .between(0, 1e18)
      .because("not stated");
  add(s, "host.peer_to_peer", node(&Node::host, &Host::peer_to_peer),
      "chips reach each other without host memory")
      .because("server parts can");
}

void add_node_rest(Schema<N>& s) {
  using Nics = Node::Nics;
  add(s, "nic.count", node(&Node::nics, &Nics::count), "network cards")
      .between(0, 65536)
      .because("none");
  add(s, "nic.link", at(&N::nic_link), "link of one card; needed with cards");
  add(s, "nic.gpu_direct", node(&Node::nics, &Nics::gpu_direct), "cards read chip memory directly")
      .because("server parts can");
  add(s, "site.power", node(&Node::power), "whole node, data sheet");
  add(s, "site.price", node(&Node::price), "whole node");
  add(s, "site.rack_units", node(&Node::rack_units), "height").between(0.1, 1000);
}

} // namespace

const Schema<Link>& link_schema() {
  static const Schema<Link> schema = [] {
    Schema<Link> s{"link", "A kind of link (topologies/links)", {}};
    add_identity(
        s, [](auto& link) -> auto& { return link; });
    add(s, "family", at(&Link::family), "nvlink, pcie, infiniband, ethernet, ici, xgmi, host")
        .required();
    add(s, "link.bandwidth", at(&Link::bandwidth), "one unit, one direction, data sheet")
        .required();
    add(s, "link.achieved_fraction", at(&Link::achieved_fraction), "large-message share of it")
        .between(tiny, 1)
        .because("not measured");
    add(s, "link.latency", at(&Link::latency), "one traversal").required().between(0, 10);
    add(s, "link.spread", at(&Link::spread), "scatter of collectives over this link about the law")
        .between(0, 1)
        .because("typical of the systems measured");
    add(s, "link.through_root", at(&Link::through_root),
        "most of the rate that a stream between peers reaches across a PCIe root complex")
        .between(tiny, 1)
        .because("all of it");
    add(s, "link.contention", at(&Link::contention),
        "k chips of a node that stage through it carry 1 / (1 + contention x (k/2 - 1)) of its "
        "rate")
        .between(0, 100)
        .because("none");
    add(s, "link.local_copy", at(&Link::local_copy), "copy or reduction of a rank's own share")
        .because("no such cost");
    const auto tuner = [](auto member) { return at(&Link::tuner, member); };
    add(s, "tuner.launch", tuner(&Tuner::launch), "what the library believes of large messages")
        .between(0, 10)
        .because("no cost");
    add(s, "tuner.ring_step", tuner(&Tuner::ring_step), "of a ring over this link")
        .between(0, 10)
        .because("it chooses what is faster");
    add(s, "tuner.tree_step", tuner(&Tuner::tree_step), "of a tree").between(0, 10).because("none");
    add(s, "tuner.ring_plateau", tuner(&Tuner::ring_plateau), "times a ring's latency")
        .between(1, 100)
        .because("once");
    add(s, "tuner.tree_fraction", tuner(&Tuner::tree_fraction), "of a ring's rate in trees")
        .between(tiny, 1)
        .because("all of it");
    add_tables(s, "protocol", protocol_schema(), at(&Link::protocols),
               "how collectives use it; chosen by size");
    return s;
  }();
  return schema;
}

const Schema<NodeInput>& node_schema() {
  static const Schema<N> schema = [] {
    Schema<N> s{"node", "A node: chips and how they are joined (topologies/nodes)", {}};
    add_identity(s, at(&N::node));
    add(s, "node.chip", at(&N::chip), "id of a chip").required();
    add(s, "node.chips", node(&Node::chips), "how many").required().between(1, 16384);
    add_node_links(s);
    add_node_rest(s);
    return s;
  }();
  return schema;
}

const Schema<FabricInput>& fabric_schema() {
  using F = FabricInput;
  static const Schema<F> schema = [] {
    const auto fabric = [](auto member) { return at(&F::fabric, member); };
    Schema<F> s{"fabric", "The network between nodes (topologies/fabrics)", {}};
    add_identity(s, at(&F::fabric));
    add_choice(s, "fabric.shape", fabric(&Fabric::shape),
               Choices<std::string>{{"none", "none"},
                                    {"single-switch", "single-switch"},
                                    {"rail-optimized", "rail-optimized"},
                                    {"fat-tree", "fat-tree"},
                                    {"dragonfly", "dragonfly"},
                                    {"explicit", "explicit"}},
               "generator of the network")
        .required();
    add(s, "fabric.link", at(&F::link), "link of a switch port; needed unless the shape is none");
    add(s, "fabric.nodes_per_leaf", fabric(&Fabric::nodes_per_leaf), "on one leaf switch")
        .between(1, 1e5)
        .because("a 64-port switch, half of it down");
    add(s, "fabric.oversubscription", fabric(&Fabric::oversubscription), "leaf down : up")
        .between(0.01, 1000)
        .because("full bisection");
    add(s, "fabric.leaves_per_group", fabric(&Fabric::leaves_per_group),
        "leaves that meet below the topmost tier: a pod, or the routers of a dragonfly's group; 0 "
        "= "
        "no such tier")
        .between(0, 1e5)
        .because("two tiers");
    add(s, "fabric.group_oversubscription", fabric(&Fabric::group_oversubscription),
        "of a group's links to the others")
        .between(0.01, 1000)
        .because("full bisection");
    add(s, "fabric.edges", fabric(&Fabric::edges),
        "of an explicit shape: \"node0-leaf0\", \"node0.nic1-leaf1\", \"leaf0-spine x4\"");
    add(s, "fabric.switch_latency", fabric(&Fabric::switch_latency), "per switch crossed")
        .between(0, 10)
        .because("within the link's latency");
    add(s, "fabric.in_network_reduction", fabric(&Fabric::in_network_reduction),
        "switches add, as SHARP does")
        .because("not stated");
    return s;
  }();
  return schema;
}

} // namespace clustersim
