#include "spec/check_shapes.hpp"

#include "base/text.hpp"
#include "spec/scale_up_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

namespace clustersim {
namespace {

using Problems = std::vector<ShapeProblem>;

constexpr std::size_t most_edges = 100'000;
constexpr std::string_view edge_form = "a list such as [\"0-1\", \"0-3 x2\"]";

/// Edges that read well; each pair once in each direction.
std::vector<ListedEdge> read_edges(const std::vector<std::string>& texts, const std::string& key,
                                   Problems& out) {
  std::vector<ListedEdge> edges;
  std::set<std::pair<std::string, std::string>> seen;
  if (texts.empty() || texts.size() > most_edges) {
    out.push_back({key, texts.empty() ? "'" + key + "' is missing" : "too many edges",
                   texts.empty() ? std::string(edge_form) : fmt::format("at most {}", most_edges)});
    return edges;
  }
  for (const std::string& text : texts) {
    std::string why;
    const auto edge = listed_edge(text, why);
    if (!edge) {
      out.push_back({key, why, std::string(edge_form)});
      continue;
    }
    const bool fresh = seen.insert({edge->from, edge->to}).second;
    const bool back = !edge->both_ways || seen.insert({edge->to, edge->from}).second;
    if (!fresh || !back) {
      out.push_back({key, fmt::format("{} and {} are joined twice", edge->from, edge->to),
                     "one entry with the number of links, \"0-3 x2\""});
      continue;
    }
    edges.push_back(*edge);
  }
  return edges;
}

void check_torus(const Node& node, Problems& out) {
  std::string why;
  const auto axes = torus_axes(node.scale_up.torus, node.scale_up.wrap, node.chips, why);
  if (!axes) {
    out.push_back({"scale_up.torus", why, "extents such as \"4x4x4\""});
    return;
  }
  std::int64_t places = 1; // three extents of at most 2^20 each
  for (const TorusAxis& axis : *axes)
    places *= axis.extent;
  if (places != node.chips) {
    out.push_back({"scale_up.torus",
                   fmt::format("a torus {} has {} places, the node {} chips", node.scale_up.torus,
                               places, node.chips),
                   "extents whose product is node.chips"});
  }
}

void check_links(const Node& node, const std::vector<ListedEdge>& edges, Problems& out) {
  std::map<std::string, double> used;
  for (const ListedEdge& edge : edges) {
    if (vertex_number(edge.from)) used[edge.from] += edge.links;
    if (edge.both_ways && vertex_number(edge.to)) used[edge.to] += edge.links;
  }
  for (const auto& [chip, links] : used) {
    if (links > node.scale_up.links_per_chip) {
      out.push_back({"scale_up.edges",
                     fmt::format("chip {} has {:.0f} links, scale_up.links_per_chip is {}", chip,
                                 links, node.scale_up.links_per_chip),
                     "at most as many links as a chip has"});
    }
  }
}

/// Sets of vertices that can reach each other; edges in one direction count as joining.
class Islands {
public:
  void join(const std::string& a, const std::string& b) { parent_[root(a)] = root(b); }
  std::string root(const std::string& name) {
    std::string at = name;
    parent_.try_emplace(at, at);
    while (parent_[at] != at)
      at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  [[nodiscard]] std::size_t count() {
    std::set<std::string> roots;
    for (const auto& [name, parent] : std::map(parent_))
      roots.insert(root(name));
    return roots.size();
  }

private:
  std::map<std::string, std::string> parent_;
};

} // namespace

std::vector<ShapeProblem> shape_problems(const Node& node) {
  Problems out;
  if (node.scale_up.shape == "torus") check_torus(node, out);
  if (node.scale_up.shape == "explicit") {
    const auto edges = read_edges(node.scale_up.edges, "scale_up.edges", out);
    check_links(node, edges, out);
  }
  const std::string& shape = node.scale_up.shape;
  const bool all_joined = shape == "switched" || shape == "mesh" || shape == "torus";
  if (node.host.chips > 0 && node.host.chips < node.chips && !all_joined) {
    out.push_back({"host.chips", "several hosts in one node, and no link between all of its chips",
                   "scale_up.shape switched, mesh or torus, or a node for each host"});
  }
  return out;
}

std::vector<ShapeProblem> shape_problems(const Fabric& fabric) {
  Problems out;
  if (fabric.shape == "dragonfly" && fabric.leaves_per_group == 0) {
    out.push_back({"fabric.leaves_per_group", "'fabric.leaves_per_group' is missing",
                   "the routers of a group, since fabric.shape is \"dragonfly\""});
  }
  if (fabric.shape != "explicit") return out;
  for (const ListedEdge& edge : read_edges(fabric.edges, "fabric.edges", out)) {
    const bool ports = listed_port(edge.from).has_value() && listed_port(edge.to).has_value();
    if (ports || !edge.both_ways) {
      out.push_back({"fabric.edges",
                     fmt::format("{} and {}: a card plugs into a switch, in both directions",
                                 edge.from, edge.to),
                     "\"node0.nic1-leaf1\" or \"leaf0-spine x4\""});
    }
  }
  return out;
}

std::vector<ShapeProblem> shape_problems(const Partition& partition) {
  Problems out;
  if (partition.fabric.shape != "explicit" || partition.nodes < 2) return out;
  std::set<std::pair<int, int>> plugged;
  Islands islands;
  const auto plug = [&](const ListedPort& port) {
    for (int nic = port.nic.value_or(0); nic < partition.node.nics.count; ++nic) {
      if (!plugged.insert({port.node, nic}).second) {
        out.push_back({"fabric.edges",
                       fmt::format("node{}.nic{} is plugged in twice", port.node, nic),
                       "one switch for each card"});
      }
      if (port.nic) break;
    }
  };
  for (const ListedEdge& edge : read_edges(partition.fabric.edges, "fabric.edges", out)) {
    const auto from = listed_port(edge.from), to = listed_port(edge.to);
    for (const auto& port : {from, to}) {
      if (port && port->node < partition.nodes) plug(*port);
    }
    const auto name = [](const std::string& text, const std::optional<ListedPort>& port) {
      return port ? fmt::format("node{}", port->node) : text;
    };
    const bool absent =
        (from && from->node >= partition.nodes) || (to && to->node >= partition.nodes);
    if (!absent) islands.join(name(edge.from, from), name(edge.to, to));
  }
  for (int node = 0; node < partition.nodes; ++node) {
    for (int nic = 0; nic < partition.node.nics.count; ++nic) {
      if (plugged.count({node, nic}) > 0) continue;
      out.push_back({"fabric.edges", fmt::format("node{}.nic{} is plugged in nowhere", node, nic),
                     fmt::format("\"node{}-NAME\" for all of its cards", node)});
      return out;
    }
  }
  if (islands.count() > 1) {
    out.push_back(
        {"fabric.edges",
         fmt::format("the nodes form {} parts that do not reach each other", islands.count()),
         "edges that connect them"});
  }
  return out;
}

} // namespace clustersim
