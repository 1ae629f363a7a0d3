// The PCIe side of a node: chip - PCIe switch - root complex - host memory, sockets joined by their
// own link, NICs at the PCIe switch of the chips they serve.
//
// Without peer access a write from chip to chip must end in host memory and be read from there. The
// graph says so by its shape: each switch and root complex becomes two vertices, one for traffic
// towards memory ("up") and one for traffic away from it ("down"), which meet in host memory alone.

#include "base/bug.hpp"
#include "network/generators.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace clustersim {

namespace {

struct Stage {
  VertexId up, down; // the same vertex where peers can talk
};

class HostBuilder {
public:
  HostBuilder(LinkGraph& graph, const Node& node, const std::string& prefix)
      : graph_(graph), node_(node), prefix_(prefix), pcie_(graph.add_link_class(node.host.pcie)),
        sockets_(node.host.socket_link.bandwidth.si() > 0.0 ? std::max(1, node.host.sockets) : 1),
        chips_(node.host.chips > 0 ? std::min(node.host.chips, node.chips) : node.chips) {}

  void add_sockets();
  void add_chips(const std::vector<VertexId>& chips);
  [[nodiscard]] std::vector<NicPort> add_nics(int chips);

private:
  Stage add_stage(VertexKind kind, const std::string& name);
  void join(const Stage& lower, const Stage& upper);
  [[nodiscard]] int hosts() const { return (node_.chips - 1) / chips_ + 1; }
  [[nodiscard]] int socket_of_chip(int chip) const {
    return chip / chips_ * sockets_ + chip % chips_ * sockets_ / chips_;
  }
  /// A virtual machine or a test may leave host memory out; then nothing can be staged there.
  [[nodiscard]] bool has_memory() const { return node_.host.memory.bandwidth.si() > 0.0; }

  LinkGraph& graph_;
  const Node& node_;
  std::string prefix_;
  LinkClassId pcie_;
  int sockets_; // of one host
  int chips_;   // likewise
  std::vector<Stage> roots_;
  std::vector<VertexId> memories_;
  std::vector<Stage> attachment_; // by chip: the stage it plugs into
};

Stage HostBuilder::add_stage(VertexKind kind, const std::string& name) {
  if (node_.host.peer_to_peer) {
    const VertexId both = graph_.add_vertex({kind, prefix_ + name});
    return {both, both};
  }
  const VertexId up = graph_.add_vertex({kind, prefix_ + name + ".up"});
  return {up, graph_.add_vertex({kind, prefix_ + name + ".down"})};
}

void HostBuilder::join(const Stage& lower, const Stage& upper) {
  const Link& link = node_.host.pcie;
  graph_.add_edge(lower.up, upper.up, achieved(link), link.latency, pcie_);
  graph_.add_edge(upper.down, lower.down, achieved(link), link.latency, pcie_);
}

void HostBuilder::add_sockets() {
  for (int s = 0; s < hosts() * sockets_; ++s) {
    roots_.push_back(add_stage(VertexKind::root_complex, fmt::format("root{}", s)));
    if (!has_memory()) continue;
    // A staged byte is written once and read once, so each direction has half of the memory's rate.
    const Link& memory = node_.host.memory;
    const LinkClassId memory_class = graph_.add_link_class(memory);
    memories_.push_back(
        graph_.add_vertex({VertexKind::host_memory, prefix_ + fmt::format("memory{}", s)}));
    graph_.add_edge(roots_.back().up, memories_.back(), achieved(memory, 0.5), memory.latency,
                    memory_class);
    graph_.add_edge(memories_.back(), roots_.back().down, achieved(memory, 0.5), memory.latency,
                    memory_class);
  }
  const Link& between = node_.host.socket_link;
  const auto per_host = static_cast<std::size_t>(sockets_);
  for (std::size_t a = 0; a < roots_.size(); ++a) {
    for (std::size_t b = a + 1; b < roots_.size(); ++b) {
      if (a / per_host != b / per_host) break;
      const LinkClassId between_class = graph_.add_link_class(between);
      if (node_.host.peer_to_peer) {
        graph_.add_duplex(roots_[a].up, roots_[b].up, achieved(between), between.latency,
                          between_class);
      } else if (has_memory()) {
        graph_.add_duplex(memories_[a], memories_[b], achieved(between), between.latency,
                          between_class);
      }
    }
  }
}

void HostBuilder::add_chips(const std::vector<VertexId>& chips) {
  const int fan_out = node_.host.chips_per_switch;
  int switches = 0;
  for (int i = 0; i < static_cast<int>(chips.size()); ++i) {
    const Stage root = roots_[static_cast<std::size_t>(socket_of_chip(i))];
    if (fan_out <= 0) {
      attachment_.push_back(root);
    } else if (i % chips_ % fan_out == 0) { // no switch serves two hosts
      attachment_.push_back(
          add_stage(VertexKind::pcie_switch, fmt::format("pcie-switch{}", switches++)));
      join(attachment_.back(), root);
    } else {
      attachment_.push_back(attachment_.back());
    }
    const VertexId chip = chips[static_cast<std::size_t>(i)];
    join({chip, chip}, attachment_.back());
  }
}

std::vector<NicPort> HostBuilder::add_nics(int chips) {
  std::vector<NicPort> ports;
  const int count = node_.nics.count;
  for (int i = 0; i < count; ++i) {
    const int chip = static_cast<int>(static_cast<std::int64_t>(i) * chips / count);
    const std::string name = prefix_ + fmt::format("nic{}", i);
    if (!node_.nics.gpu_direct && has_memory()) {
      const VertexId nic = graph_.add_vertex({VertexKind::nic, name});
      const Link& link = node_.host.pcie;
      graph_.add_duplex(memories_[static_cast<std::size_t>(socket_of_chip(chip))], nic,
                        achieved(link), link.latency, pcie_);
      ports.push_back({nic, nic});
      continue;
    }
    const Stage at = attachment_[static_cast<std::size_t>(chip)];
    const VertexId nic = graph_.add_vertex({VertexKind::nic, name});
    // Without peer access the sending and the receiving half must not form a bypass of host memory.
    const VertexId receiver =
        node_.host.peer_to_peer ? nic : graph_.add_vertex({VertexKind::nic, name + ".receive"});
    const Link& link = node_.host.pcie;
    graph_.add_edge(at.up, nic, achieved(link), link.latency, pcie_);
    graph_.add_edge(receiver, at.down, achieved(link), link.latency, pcie_);
    ports.push_back({nic, receiver});
  }
  return ports;
}

} // namespace

std::vector<NicPort> build_host(LinkGraph& graph, const Node& node, const std::string& prefix,
                                const std::vector<VertexId>& chips) {
  if (!(node.host.pcie.bandwidth.si() > 0.0)) return {};
  HostBuilder host(graph, node, prefix);
  host.add_sockets();
  host.add_chips(chips);
  return host.add_nics(static_cast<int>(chips.size()));
}

} // namespace clustersim
