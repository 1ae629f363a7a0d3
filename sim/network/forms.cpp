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
Protocol chosen(const Link& link, const ProtocolChoice& choice) {
  if (const Protocol* exact = find_protocol(link, choice.name)) return *exact;
  if (const Protocol* other = find_protocol(link, choice.fallback)) return *other;
  return {};
}

struct ClassShare {
  double busiest = 0.0; // seconds per payload byte
  EdgeId edge;
  Seconds latency;
  bool used = false;
};

/// Load over capacity at each class's busiest edge. A protocol slows its transport's own links
/// (what a chip or NIC drives), not the shared edges of other classes on the way.
std::vector<ClassShare> busiest_edges(const LinkGraph& graph, const LoadVector& load,
                                      const std::vector<Protocol>& protocols) {
  std::vector<ClassShare> shares(graph.link_classes().size());
  std::vector<std::pair<LinkClassId, const double*>> parts;
  for (std::size_t c = 0; c < protocols.size(); ++c) {
    const std::vector<double>& part = load.of(LinkClassId{c});
    if (!part.empty()) parts.emplace_back(LinkClassId{c}, part.data());
  }
  for (std::size_t e = 0; e < graph.edges().size(); ++e) {
    const Edge& edge = graph.edges()[e];
    double bytes = 0.0;
    for (const auto& [transport, part] : parts) {
      const bool own = transport == edge.link_class;
      bytes += own ? part[e] / protocols[transport.at()].bandwidth_fraction : part[e];
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
    if (load.of(LinkClassId{c}).empty()) continue;
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
    protocols.push_back(chosen(link, choice));
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
