// Messages that come and go on machines of the catalogue, by our fluid sharing and by SimGrid's
// (Casanova et al., "Versatile, scalable, and accurate simulation of distributed applications and
// platforms", JPDC 2014): every message must end at the same time to within 1 %.
//
// SimGrid keeps one engine per process. So all machines are one platform without links between
// them, and the sets of messages follow one another in simulated time.

#include "network/fluid.hpp"
#include "network/routing.hpp"
#include "spec/catalogue.hpp"
#include "study/machine.hpp"

#include <simgrid/s4u.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace clustersim;
namespace s4u = simgrid::s4u;

namespace {

struct ChosenMachine {
  const char* node;
  int nodes;
};
// A switch in the node, a cube mesh, PCIe trees under two sockets, bridged pairs, a torus, and
// NICs over a fabric.
constexpr ChosenMachine machines[] = {{"dgx-a100-80", 1},    {"dgx1-v100", 1},
                                      {"srv-8x-6000ada", 1}, {"ws-4x-3090-bridged", 1},
                                      {"tpu-v4-64", 1},      {"dgx-h100", 3}};
constexpr int sets_per_place = 40;

struct Message {
  std::size_t from = 0, to = 0; // ranks
  double start = 0.0, bytes = 0.0;
  double ours = 0.0, theirs = 0.0; // when it ends
};

struct Topology {
  std::string name;
  LinkGraph graph;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::size_t>> routes; // edges
  std::vector<std::vector<Message>> sets;
};

double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random() >> 11) * 0x1p-53;
}

/// Routes of pairs that take one way: SimGrid knows no message that is split.
void find_routes(Topology& topology) {
  Router router(topology.graph);
  const std::size_t chips = std::min<std::size_t>(topology.graph.chips().size(), 24);
  for (std::size_t a = 0; a < chips; ++a) {
    for (std::size_t b = 0; b < chips; ++b) {
      std::vector<std::size_t> edges;
      bool whole = a != b;
      router.for_each_edge(RankId{a}, RankId{b}, [&](EdgeId edge, double share) {
        whole = whole && share > 1.0 - 1e-12;
        edges.push_back(edge.at());
      });
      if (whole) topology.routes[{a, b}] = edges;
    }
  }
}

/// Twelve pairs for a set, so that messages meet; sizes that take about a second alone.
void make_sets(Topology& topology, std::mt19937_64& random) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& [pair, edges] : topology.routes)
    pairs.push_back(pair);
  for (int s = 0; s < sets_per_place; ++s) {
    std::vector<Message> set(2 + random() % 40);
    std::vector<std::pair<std::size_t, std::size_t>> some;
    for (int i = 0; i < 12; ++i)
      some.push_back(pairs[random() % pairs.size()]);
    for (Message& message : set) {
      std::tie(message.from, message.to) = some[random() % some.size()];
      message.start = random() % 3 == 0 ? 0.0 : uniform(random, 0.0, 1.0);
      message.bytes = std::floor(uniform(random, 0.1, 1.0) * 40e9);
    }
    std::sort(set.begin(), set.end(),
              [](const Message& a, const Message& b) { return a.start < b.start; });
    topology.sets.push_back(std::move(set));
  }
}

/// One set from time 0: rates change when a message starts or ends.
void run_ours(const Topology& topology, std::vector<Message>& set) {
  FluidShare share;
  std::map<std::size_t, FluidEdgeId> known;
  const auto edge_of = [&](std::size_t id) {
    const auto found = known.find(id);
    if (found != known.end()) return found->second;
    return known.emplace(id, share.add_edge(topology.graph.edge(EdgeId{id}).capacity))
        .first->second;
  };
  struct Running {
    Message* message;
    FlowId flow;
    double left;
  };
  std::vector<Running> running;
  double now = 0.0;
  std::size_t next = 0;
  while (next < set.size() || !running.empty()) {
    double until = next < set.size() ? set[next].start : std::numeric_limits<double>::infinity();
    for (const Running& one : running)
      until = std::min(until, now + one.left / share.rate(one.flow).si());
    for (Running& one : running)
      one.left -= (until - now) * share.rate(one.flow).si();
    now = until;
    std::erase_if(running, [&](const Running& one) {
      const bool done = one.left <= 1e-9 * one.message->bytes;
      if (done) {
        one.message->ours = now;
        share.end(one.flow);
      }
      return done;
    });
    for (; next < set.size() && set[next].start <= now; ++next) {
      FluidFlow flow;
      for (const std::size_t edge : topology.routes.at({set[next].from, set[next].to}))
        flow.weights.push_back({edge_of(edge)});
      running.push_back({&set[next], share.start(std::move(flow)), set[next].bytes});
    }
    share.settle();
  }
}

void build_platform(const std::vector<Topology>& topologies, s4u::NetZone& world) {
  for (const Topology& topology : topologies) {
    std::map<std::size_t, s4u::Link*> links;
    std::map<std::size_t, s4u::Host*> hosts;
    const auto host_of = [&](std::size_t rank) {
      s4u::Host*& host = hosts[rank];
      if (host == nullptr) {
        host = world.create_host(fmt::format("{}/{}", topology.name, rank), 1e9);
        host->seal();
      }
      return host;
    };
    for (const auto& [pair, edges] : topology.routes) {
      std::vector<s4u::LinkInRoute> route;
      for (const std::size_t edge : edges) {
        s4u::Link*& link = links[edge];
        if (link == nullptr) {
          link = world.create_link(fmt::format("{}#{}", topology.name, edge),
                                   topology.graph.edge(EdgeId{edge}).capacity.si());
          link->set_latency(0.0)->seal();
        }
        route.emplace_back(link);
      }
      world.add_route(host_of(pair.first)->get_netpoint(), host_of(pair.second)->get_netpoint(),
                      nullptr, nullptr, route, false);
    }
  }
  world.seal();
}

/// The sets one after another, in SimGrid's time.
void run_theirs(std::vector<Topology>& topologies, const s4u::Engine& engine) {
  for (Topology& topology : topologies) {
    for (std::vector<Message>& set : topology.sets) {
      const double begin = s4u::Engine::get_clock();
      std::vector<s4u::CommPtr> comms;
      for (const Message& message : set) {
        s4u::this_actor::sleep_until(begin + message.start);
        comms.push_back(s4u::Comm::sendto_async(
            engine.host_by_name(fmt::format("{}/{}", topology.name, message.from)),
            engine.host_by_name(fmt::format("{}/{}", topology.name, message.to)),
            static_cast<std::uint64_t>(message.bytes)));
      }
      for (std::size_t i = 0; i < set.size(); ++i) {
        comms[i]->wait();
        set[i].theirs = comms[i]->get_finish_time() - begin;
      }
    }
  }
}

struct Verdict {
  int sets = 0, messages = 0;
  double worst = 0.0, slowed = 0.0;
};

Verdict compare(const Topology& topology) {
  Verdict verdict;
  for (const std::vector<Message>& set : topology.sets) {
    ++verdict.sets;
    for (const Message& message : set) {
      ++verdict.messages;
      const double ours = message.ours - message.start, theirs = message.theirs - message.start;
      verdict.worst = std::max(verdict.worst, std::fabs(ours / theirs - 1.0));
      double alone = 0.0;
      for (const std::size_t edge : topology.routes.at({message.from, message.to}))
        alone = std::max(alone, message.bytes / topology.graph.edge(EdgeId{edge}).capacity.si());
      if (ours > 1.01 * alone) verdict.slowed += 1.0;
    }
  }
  return verdict;
}

} // namespace

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                              "network/weight-S:0"})
    s4u::Engine::set_config(setting);

  const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  std::mt19937_64 random(7);
  std::vector<Topology> topologies;
  for (const ChosenMachine& place : machines) {
    Diagnostics diagnostics;
    const auto machine = assemble_machine(catalogue, {place.node, place.nodes, ""}, diagnostics);
    if (!machine) {
      fmt::print("cannot assemble {}\n", place.node);
      return 1;
    }
    topologies.push_back({place.node, build_link_graph(machine->cluster), {}, {}});
    find_routes(topologies.back());
    make_sets(topologies.back(), random);
    for (std::vector<Message>& set : topologies.back().sets)
      run_ours(topologies.back(), set);
  }
  build_platform(topologies, *s4u::create_full_zone("world"));
  s4u::Actor::create("sender", engine.get_all_hosts().front(),
                     [&] { run_theirs(topologies, engine); });
  engine.run();

  constexpr double allowed = 0.01, least_slowed = 0.3;
  bool good = true;
  for (const Topology& topology : topologies) {
    const Verdict verdict = compare(topology);
    const double slowed = verdict.slowed / verdict.messages;
    fmt::print("{}: {} sets of {} messages, {:.0f} % of them slowed by others, furthest off "
               "{:.4f} %\n",
               topology.name, verdict.sets, verdict.messages, 100.0 * slowed,
               100.0 * verdict.worst);
    good = good && verdict.worst <= allowed && slowed >= least_slowed;
  }
  fmt::print("{}\n", good ? "all within 1 %" : "FAILED: further off than 1 %, or no contention");
  return good ? 0 : 1;
}
