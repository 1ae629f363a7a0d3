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
  double busiest = 0.0; // seconds per payload byte at the protocol's full rate
  EdgeId edge;
  Seconds latency;
  bool used = false;
};

std::vector<ClassShare> busiest_edges(const LinkGraph& graph, const std::vector<double>& load) {
  std::vector<ClassShare> shares(graph.link_classes().size());
  for (std::size_t e = 0; e < load.size(); ++e) {
    if (load[e] <= 0.0) continue;
    const Edge& edge = graph.edges()[e];
    ClassShare& share = shares[edge.link_class.at()];
    share.used = true;
    const double time = load[e] / edge.capacity.si();
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
    std::size_t slowest = shares.size();
    router.for_each_edge(hop.from, hop.to, [&](EdgeId id, double share) {
      const Edge& edge = graph.edges()[id.at()];
      const std::size_t c = edge.link_class.at();
      shares[c].latency += edge.latency * (hop.traversals * share);
      shares[c].used = true;
      if (slowest == shares.size() || protocols[c].step > protocols[slowest].step) slowest = c;
    });
    if (slowest < shares.size()) shares[slowest].latency += protocols[slowest].step * hop.steps;
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

CollectiveForm form_of(const LinkGraph& graph, Router& router, std::string_view algorithm,
                       const Traffic& traffic, const ProtocolChoice& choice,
                       std::vector<ClassShare> shares) {
  CollectiveForm form;
  form.algorithm = algorithm;
  form.protocol = choice.name;
  std::vector<Protocol> protocols;
  for (const Link& link : graph.link_classes())
    protocols.push_back(chosen(link, choice));
  add_latencies(graph, router, traffic, protocols, shares);
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (!shares[c].used) continue;
    const LinkClassId id{c};
    form.terms.push_back({id, shares[c].latency,
                          SecondsPerByte{shares[c].busiest / protocols[c].bandwidth_fraction},
                          shares[c].edge});
    form.fill = std::max(form.fill, protocols[c].fill);
    if (form.terms.size() == 1 || protocols[c].launch > form.launch) {
      form.launch = protocols[c].launch;
      form.launch_class = id;
    }
  }
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
  const std::vector<ClassShare> shares = busiest_edges(graph, traffic.load);
  for (const ProtocolChoice& choice : protocols) {
    forms.push_back(form_of(graph, router, algorithm, traffic, choice, shares));
  }
  return forms;
}

} // namespace clustersim
