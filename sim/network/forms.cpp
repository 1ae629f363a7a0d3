// From traffic to closed forms: one per protocol.

#include "base/bug.hpp"
#include "network/traffic.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

namespace clustersim {

/// One stage: what is on the edges, and how the edges are.
struct StageLoad {
  LoadVector load;
  std::vector<Edge> edges; // by row
  std::vector<char> driven;
};

struct FormLoads {
  std::vector<StageLoad> stages;
  std::vector<int> most_in_node; // by stage
  std::vector<ProtocolChoice> choices;
};

namespace {

/// Link classes without protocol constants cost their edges and nothing more.
Protocol chosen(const Link& link, const ProtocolChoice& choice, int most_in_node) {
  const Protocol* exact = find_protocol(link, choice.name);
  const Protocol* found = exact != nullptr ? exact : find_protocol(link, choice.fallback);
  if (found == nullptr) return {};
  Protocol protocol = *found;
  // Inside a node the switch reduces; only the trees across nodes are trees of ranks.
  const bool in_switch = exact != nullptr && choice.name == "in-switch";
  if (choice.tree && !in_switch) {
    protocol.bandwidth_fraction *= protocol.tree_fraction;
    if (protocol.tree_step > Seconds{}) protocol.step = protocol.tree_step;
  }
  const double beyond_two = std::max(0.0, most_in_node / 2.0 - 1.0);
  protocol.bandwidth_fraction /= 1.0 + link.contention * beyond_two;
  return protocol;
}

std::vector<Protocol> chosen_on_all(const LinkGraph& graph, const ProtocolChoice& choice,
                                    int most_in_node) {
  std::vector<Protocol> protocols;
  protocols.reserve(graph.link_classes().size());
  for (const Link& link : graph.link_classes())
    protocols.push_back(chosen(link, choice, most_in_node));
  return protocols;
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
    const VertexKind kind = graph.kind(id);
    return kind == VertexKind::pcie_switch || kind == VertexKind::root_complex ||
           kind == VertexKind::leaf || kind == VertexKind::spine;
  };
  return !passive(edge.from) || !passive(edge.to);
}

StageLoad stage_of(const LinkGraph& graph, const Traffic& traffic) {
  StageLoad stage{traffic.settled(), {}, {}};
  for (const LoadVector::Row& row : stage.load.rows) {
    stage.edges.push_back(graph.edge(row.edge));
    stage.driven.push_back(driven(graph, stage.edges.back()) ? 1 : 0);
  }
  return stage;
}

/// Calls visit(row, seconds per payload byte) for each edge: load over capacity. A protocol slows
/// its transport's own links (what a chip or NIC drives), not the shared edges on the way.
template <class Visit>
void for_each_busy_edge(const LinkGraph& graph, const StageLoad& stage,
                        const std::vector<Protocol>& protocols, Visit&& visit) {
  std::vector<double> fractions; // that each driver reaches on edges of its own class
  for (const Driver& driver : stage.load.drivers) {
    const std::size_t c = driver.transport.at();
    const double most = driver.through_root ? graph.link_classes()[c].through_root : 1.0;
    fractions.push_back(std::min(protocols[c].bandwidth_fraction, most));
  }
  for (std::size_t r = 0; r < stage.load.rows.size(); ++r) {
    const LoadVector::Row& row = stage.load.rows[r];
    const Edge& edge = stage.edges[r];
    double bytes = 0.0;
    for (std::size_t d = 0; d < fractions.size(); ++d) {
      const bool own = stage.load.drivers[d].transport == edge.link_class && stage.driven[r] != 0;
      bytes += own ? row.bytes[d] / fractions[d] : row.bytes[d];
    }
    if (bytes > 0.0) visit(r, bytes / edge.capacity.si());
  }
}

/// Each class's busiest edge.
std::vector<ClassShare> busiest_edges(const LinkGraph& graph, const StageLoad& stage,
                                      const std::vector<Protocol>& protocols) {
  std::vector<ClassShare> shares(graph.link_classes().size());
  for_each_busy_edge(graph, stage, protocols, [&](std::size_t r, double time) {
    const LoadVector::Row& row = stage.load.rows[r];
    ClassShare& share = shares[stage.edges[r].link_class.at()];
    share.used = true;
    if (time > share.busiest) {
      share.busiest = time;
      share.edge = row.edge;
    }
  });
  return shares;
}

void add_latencies(const LinkGraph& graph, const Traffic& traffic,
                   const std::vector<Protocol>& protocols, std::vector<ClassShare>& shares) {
  Router& router = traffic.router();
  for (const SerialHop& hop : traffic.serial) {
    const std::size_t transport = router.pattern(hop.from, hop.to).transport.at();
    shares[transport].latency += protocols[transport].step * hop.steps;
    router.for_each_edge(hop.from, hop.to, [&](EdgeId id, double share) {
      const Edge edge = graph.edge(id);
      shares[edge.link_class.at()].latency += edge.latency * (hop.traversals * share);
    });
  }
}

/// The class at the sending chip's first edge: where a rank's own share is copied.
LinkClassId local_class(const LinkGraph& graph, const Traffic& traffic) {
  LinkClassId first;
  bool found = false;
  for (const SerialHop& hop : traffic.serial) {
    traffic.router().for_each_edge(hop.from, hop.to, [&](EdgeId id, double) {
      if (!found) first = graph.edge(id).link_class;
      found = true;
    });
    if (found) break;
  }
  return first;
}

/// The slowest start of all transports in use, and the longest fill.
void set_start(const LoadVector& load, const std::vector<Protocol>& protocols,
               CollectiveForm& form) {
  bool first = form.terms.empty();
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

void add_stage(const LinkGraph& graph, const Traffic& traffic, const StageLoad& stage, int number,
               const ProtocolChoice& choice, CollectiveForm& form) {
  const std::vector<Protocol> protocols = chosen_on_all(graph, choice, traffic.most_in_node);
  set_start(stage.load, protocols, form);
  std::vector<ClassShare> shares = busiest_edges(graph, stage, protocols);
  add_latencies(graph, traffic, protocols, shares);
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (!shares[c].used) continue;
    form.terms.push_back({LinkClassId{c}, shares[c].latency, SecondsPerByte{shares[c].busiest},
                          shares[c].edge, number});
  }
}

/// How the library's tuner sees a link class.
Protocol believed(const Link& link, bool tree) {
  Protocol protocol;
  protocol.launch = link.tuner.launch;
  protocol.step = tree ? link.tuner.tree_step : link.tuner.ring_step;
  if (tree) protocol.bandwidth_fraction = link.tuner.tree_fraction;
  return protocol;
}

/// Nothing unless it knows all links that move data. The longest plateau stretches a ring's steps
/// on all of them.
std::optional<Belief> belief_of(const LinkGraph& graph, const Traffic& traffic,
                                const StageLoad& stage, bool tree) {
  Belief belief;
  double plateau = 1.0;
  std::vector<Protocol> protocols;
  for (std::size_t c = 0; c < graph.link_classes().size(); ++c) {
    const Link& link = graph.link_classes()[c];
    protocols.push_back(believed(link, tree));
    if (!stage.load.moves(LinkClassId{c})) continue;
    if (!(link.tuner.ring_step > Seconds{})) return std::nullopt;
    belief.latency = std::max(belief.latency, link.tuner.launch);
    if (!tree) plateau = std::max(plateau, link.tuner.ring_plateau);
  }
  for (const SerialHop& hop : traffic.serial) {
    const std::size_t c = traffic.router().pattern(hop.from, hop.to).transport.at();
    belief.latency += protocols[c].step * hop.steps;
  }
  belief.latency = belief.latency * plateau;
  for (const ClassShare& share : busiest_edges(graph, stage, protocols))
    belief.busiest = std::max(belief.busiest, SecondsPerByte{share.busiest});
  return belief;
}

/// What all stages together put on every edge, sisters included.
std::vector<std::pair<EdgeId, double>> carried_by(std::span<const Traffic> stages) {
  std::map<EdgeId, double> sums;
  for (const Traffic& traffic : stages) {
    for (const LoadVector::Row& row : traffic.settled(Traffic::Blocks::each).rows)
      sums[row.edge] += std::accumulate(row.bytes.begin(), row.bytes.end(), 0.0);
  }
  return {sums.begin(), sums.end()};
}

} // namespace

const Protocol* find_protocol(const Link& link, std::string_view name) {
  const auto found = std::find_if(link.protocols.begin(), link.protocols.end(),
                                  [&](const Protocol& p) { return p.name == name; });
  return found == link.protocols.end() ? nullptr : &*found;
}

std::vector<CollectiveForm> forms_of(const LinkGraph& graph, std::string_view algorithm,
                                     std::span<const Traffic> stages,
                                     const std::vector<ProtocolChoice>& protocols) {
  std::vector<StageLoad> loads;
  loads.reserve(stages.size());
  for (const Traffic& traffic : stages)
    loads.push_back(stage_of(graph, traffic));
  const auto kept = std::make_shared<FormLoads>();
  for (const Traffic& traffic : stages)
    kept->most_in_node.push_back(traffic.most_in_node);
  kept->choices = protocols;
  std::optional<Belief> belief;
  if (stages.size() == 1 && protocols.front().fallback == "bulk" &&
      protocols.front().name != "in-switch") {
    belief = belief_of(graph, stages.front(), loads.front(), protocols.front().tree);
  }
  std::vector<std::pair<EdgeId, double>> carried;
  if (stages.front().router().keeps_loads()) carried = carried_by(stages);
  std::vector<CollectiveForm> forms;
  forms.reserve(protocols.size());
  for (const ProtocolChoice& choice : protocols) {
    CollectiveForm form;
    form.belief = belief;
    form.algorithm = algorithm;
    form.protocol = choice.name;
    for (std::size_t s = 0; s < stages.size(); ++s)
      add_stage(graph, stages[s], loads[s], static_cast<int>(s), choice, form);
    form.local_class = local_class(graph, stages.front());
    const BytesPerSecond copy = graph.link_classes()[form.local_class.at()].local_copy;
    if (copy.si() > 0.0) form.local = stages.front().local / copy;
    form.loads = kept;
    form.carried = carried;
    forms.push_back(std::move(form));
  }
  kept->stages = std::move(loads);
  return forms;
}

std::vector<EdgeTime> edge_times(const CollectiveForm& form, const LinkGraph& graph) {
  std::map<EdgeId, double> sums;
  const std::vector<ProtocolChoice>& choices = form.loads->choices;
  const auto choice = std::find_if(choices.begin(), choices.end(), [&](const ProtocolChoice& c) {
    return c.name == form.protocol;
  });
  if (choice == choices.end()) throw Bug("a form of a protocol that its algorithm lacks");
  for (std::size_t s = 0; s < form.loads->stages.size(); ++s) {
    const StageLoad& stage = form.loads->stages[s];
    const auto protocols = chosen_on_all(graph, *choice, form.loads->most_in_node[s]);
    for_each_busy_edge(graph, stage, protocols,
                       [&](std::size_t r, double time) { sums[stage.load.rows[r].edge] += time; });
  }
  std::vector<EdgeTime> times;
  times.reserve(sums.size());
  for (const auto& [edge, time] : sums)
    times.push_back({edge, SecondsPerByte{time}});
  return times;
}

} // namespace clustersim
