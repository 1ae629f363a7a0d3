// From traffic to closed forms: one per protocol.

#include "network/traffic.hpp"

#include <algorithm>

namespace clustersim {

namespace {

const Protocol* find_protocol(const Link& link, const std::string& name) {
  const auto found = std::find_if(link.protocols.begin(), link.protocols.end(),
                                  [&](const Protocol& p) { return p.name == name; });
  return found == link.protocols.end() ? nullptr : &*found;
}

/// Link classes without protocol constants cost their edges and nothing more.
Protocol chosen(const Link& link, const ProtocolChoice& choice, const Traffic& traffic) {
  const Protocol* exact = find_protocol(link, choice.name);
  const Protocol* found = exact != nullptr ? exact : find_protocol(link, choice.fallback);
  if (found == nullptr) return {};
  Protocol protocol = *found;
  // Inside a node the switch reduces; only the trees across nodes are trees of ranks.
  const bool in_switch = exact != nullptr && choice.name == "in-switch";
  if (choice.tree && !in_switch) protocol.bandwidth_fraction *= protocol.tree_fraction;
  const double beyond_two = std::max(0.0, traffic.most_in_node / 2.0 - 1.0);
  protocol.bandwidth_fraction /= 1.0 + link.contention * beyond_two;
  return protocol;
}

struct ClassShare {
  double busiest = 0.0; // seconds per payload byte
  EdgeId edge;
  Seconds latency;
  bool used = false;
};

/// Whether a chip, a NIC or host memory drives the edge. What lies between switches carries the
/// sum of several drivers and is bound by its own rate alone.
bool driven(const LinkGraph& graph, const Edge& edge) {
  const auto passive = [&](VertexId id) {
    const VertexKind kind = graph.vertices()[id.at()].kind;
    return kind == VertexKind::pcie_switch || kind == VertexKind::root_complex ||
           kind == VertexKind::leaf || kind == VertexKind::spine;
  };
  return !passive(edge.from) || !passive(edge.to);
}

/// Load over capacity at each class's busiest edge. A protocol slows its transport's own links
/// (what a chip or NIC drives), not the shared edges on the way.
std::vector<ClassShare> busiest_edges(const LinkGraph& graph, const LoadVector& load,
                                      const std::vector<Protocol>& protocols) {
  std::vector<ClassShare> shares(graph.link_classes().size());
  struct Part {
    std::size_t transport;
    double fraction; // that the driver reaches on edges of its own class
    const double* load;
  };
  std::vector<Part> parts;
  for (std::size_t c = 0; c < protocols.size(); ++c) {
    for (const bool root : {false, true}) {
      const std::vector<double>& part = load.of(LinkClassId{c}, root);
      const double most = root ? graph.link_classes()[c].through_root : 1.0;
      const double fraction = std::min(protocols[c].bandwidth_fraction, most);
      if (!part.empty()) parts.push_back({c, fraction, part.data()});
    }
  }
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    const Edge& edge = graph.edges()[e];
    double bytes = 0.0;
    for (const Part& part : parts) {
      const bool own = part.transport == edge.link_class.at() && driven(graph, edge);
      bytes += own ? part.load[e] / part.fraction : part.load[e];
    }
    if (bytes <= 0.0) continue;
    ClassShare& share = shares[edge.link_class.at()];
    share.used = true;
    const double time = bytes / edge.capacity.si();
    if (time > share.busiest) {
      share.busiest = time;
      share.edge = EdgeId{e};
    }
  }
  return shares;
}

void add_latencies(const LinkGraph& graph, Router& router, const Traffic& traffic,
                   const std::vector<Protocol>& protocols, std::vector<ClassShare>& shares) {
  for (const SerialHop& hop : traffic.serial) {
    const std::size_t transport = router.pattern(hop.from, hop.to).transport.at();
    shares[transport].latency += protocols[transport].step * hop.steps;
    router.for_each_edge(hop.from, hop.to, [&](EdgeId id, double share) {
      const Edge& edge = graph.edges()[id.at()];
      shares[edge.link_class.at()].latency += edge.latency * (hop.traversals * share);
    });
  }
}

/// The class at the sending chip's first edge: where a rank's own share is copied.
LinkClassId local_class(const LinkGraph& graph, Router& router, const Traffic& traffic) {
  LinkClassId first;
  bool found = false;
  for (const SerialHop& hop : traffic.serial) {
    router.for_each_edge(hop.from, hop.to, [&](EdgeId id, double) {
      if (!found) first = graph.edges()[id.at()].link_class;
      found = true;
    });
    if (found) break;
  }
  return first;
}

/// The slowest start of all transports in use, and the longest fill.
void set_start(const LoadVector& load, const std::vector<Protocol>& protocols,
               CollectiveForm& form) {
  bool first = true;
  for (std::size_t c = 0; c < protocols.size(); ++c) {
    if (!load.moves(LinkClassId{c})) continue;
    form.fill = std::max(form.fill, protocols[c].fill);
    if (first || protocols[c].launch > form.launch) {
      form.launch = protocols[c].launch;
      form.launch_class = LinkClassId{c};
    }
    first = false;
  }
}

CollectiveForm form_of(const LinkGraph& graph, Router& router, std::string_view algorithm,
                       const Traffic& traffic, const ProtocolChoice& choice) {
  CollectiveForm form;
  form.algorithm = algorithm;
  form.protocol = choice.name;
  std::vector<Protocol> protocols;
  protocols.reserve(graph.link_classes().size());
  for (const Link& link : graph.link_classes())
    protocols.push_back(chosen(link, choice, traffic));
  std::vector<ClassShare> shares = busiest_edges(graph, traffic.load, protocols);
  add_latencies(graph, router, traffic, protocols, shares);
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (!shares[c].used) continue;
    form.terms.push_back(
        {LinkClassId{c}, shares[c].latency, SecondsPerByte{shares[c].busiest}, shares[c].edge});
  }
  set_start(traffic.load, protocols, form);
  form.local_class = local_class(graph, router, traffic);
  const BytesPerSecond copy = graph.link_classes()[form.local_class.at()].local_copy;
  if (copy.si() > 0.0) form.local = traffic.local / copy;
  for (std::size_t e = 0; router.keeps_loads() && e < graph.edges().size(); ++e)
    form.carried.push_back(traffic.load.at(EdgeId{e}));
  return form;
}

} // namespace

std::vector<CollectiveForm> forms_of(const LinkGraph& graph, Router& router,
                                     std::string_view algorithm, const Traffic& traffic,
                                     const std::vector<ProtocolChoice>& protocols) {
  std::vector<CollectiveForm> forms;
  forms.reserve(protocols.size());
  for (const ProtocolChoice& choice : protocols) {
    forms.push_back(form_of(graph, router, algorithm, traffic, choice));
  }
  return forms;
}

} // namespace clustersim
