#include "report/topology_picture.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "report/layout.hpp"
#include "report/topology_words.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace clustersim {
namespace {

/// "gpu3" of "node2/gpu3"; both halves of a stage without peer access as one.
std::string short_name(const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string stem = slash == std::string::npos ? name : name.substr(slash + 1);
  return slash == std::string::npos ? stem : stem.substr(0, stem.find('.'));
}

class Painter {
public:
  explicit Painter(const TopologyAnswer& answer)
      : answer_(answer), graph_(answer.graph), folded_(fold_for_picture(answer.graph)) {}

  Picture paint() {
    add_frames();
    add_boxes();
    add_wires();
    return std::move(out_);
  }

private:
  using WireKey = std::tuple<std::size_t, std::size_t, std::uint32_t, double>;

  void add_frames();
  void add_boxes();
  void add_wires();
  void add_directed(std::map<WireKey, PictureWire>& wires,
                    std::map<WireKey, std::array<std::int64_t, 2>>& counts);
  [[nodiscard]] std::vector<int> levels() const;
  [[nodiscard]] const std::vector<TorusAxis>& torus_of(std::size_t frame) const {
    return graph_.torus(folded_.nodes[frame].shape);
  }
  [[nodiscard]] double share(std::size_t edge) const {
    return answer_.loads ? answer_.loads->shares[edge] : 0.0;
  }
  void add_to_axis(std::size_t edge, const Edge& e, std::size_t frame);

  const TopologyAnswer& answer_;
  const LinkGraph& graph_;
  FoldedGraph folded_;
  Picture out_;
};

void Painter::add_frames() {
  for (const FoldedNodes& nodes : folded_.nodes) {
    const Node& node = answer_.machine.cluster.partitions[nodes.shape.at()].node;
    PictureFrame frame{node.name,
                       fmt::format("{} × {}", node.chips, node.chip.name),
                       static_cast<std::int64_t>(nodes.members.size()),
                       {}};
    for (const TorusAxis& axis : graph_.torus(nodes.shape))
      frame.torus.push_back({axis, {}, {}, std::nullopt, false});
    out_.frames.push_back(std::move(frame));
  }
}

/// Of switches outside nodes: 1 where cards plug in.
std::vector<int> Painter::levels() const {
  std::vector<int> level(folded_.vertices.size(), 0);
  for (int at = 0; at < static_cast<int>(level.size()); ++at) {
    bool any = false;
    for (const FoldedEdge& edge : folded_.edges) {
      const bool from_here =
          at == 0 ? folded_.vertices[edge.from].nodes >= 0 : level[edge.from] == at;
      if (!from_here || folded_.vertices[edge.to].nodes >= 0 || level[edge.to] > 0) continue;
      level[edge.to] = at + 1;
      any = true;
    }
    if (!any) break;
  }
  return level;
}

void Painter::add_boxes() {
  const std::vector<int> level = levels();
  for (std::size_t v = 0; v < folded_.vertices.size(); ++v) {
    const FoldedVertex& vertex = folded_.vertices[v];
    PictureBox box;
    box.kind = vertex.kind;
    box.level = level[v];
    std::vector<std::string> names; // of one node, halves of a stage once
    std::int64_t all = 0;
    if (vertex.nodes >= 0) {
      box.frame = static_cast<std::size_t>(vertex.nodes);
      const std::size_t first = folded_.nodes[*box.frame].members.front();
      for (const VertexId sister : vertex.sisters) {
        const Vertex one = graph_.vertex(sister);
        if (static_cast<std::size_t>(one.node) == first) names.push_back(short_name(one.name));
      }
      std::sort(names.begin(), names.end());
      names.erase(std::unique(names.begin(), names.end()), names.end());
      all = static_cast<std::int64_t>(names.size());
    } else {
      all = static_cast<std::int64_t>(vertex.sisters.size());
      names.push_back(graph_.vertex(vertex.sisters.front()).name);
    }
    box.count = std::max<std::int64_t>(1, all);
    box.title = box.count == 1 ? names.front() : std::string{name_of(box.kind)};
    out_.boxes.push_back(std::move(box));
  }
}

void Painter::add_to_axis(std::size_t edge, const Edge& e, std::size_t frame) {
  const NodeBlock& block = graph_.nodes()[folded_.nodes[frame].members.front()];
  const auto chips = static_cast<std::size_t>(block.chips);
  // Chips are the first vertices of their node.
  const auto first =
      graph_.nodes()[static_cast<std::size_t>(graph_.vertex(e.from).node)].first_vertex.at();
  const std::size_t a = e.from.at() - first, b = e.to.at() - first;
  if (a >= chips || b >= chips) return;
  std::size_t stride = 1;
  for (PictureAxis& axis : out_.frames[frame].torus) {
    const auto extent = static_cast<std::size_t>(axis.axis.extent);
    if (a / stride % extent != b / stride % extent) {
      axis.rate = e.capacity;
      axis.link_class = e.link_class;
      if (answer_.loads) axis.load = std::max(axis.load.value_or(0.0), share(edge));
      axis.binding = axis.binding || (answer_.loads && answer_.loads->binding == EdgeId{edge});
      return;
    }
    stride *= extent;
  }
}

void Painter::add_directed(std::map<WireKey, PictureWire>& wires,
                           std::map<WireKey, std::array<std::int64_t, 2>>& counts) {
  for (std::size_t id = 0; id < graph_.edges().size(); ++id) {
    const FoldedEdge& edge = folded_.edges[folded_.edge_of[id]];
    const FoldedVertex &from = folded_.vertices[edge.from], &to = folded_.vertices[edge.to];
    const bool chips = from.kind == VertexKind::chip && to.kind == VertexKind::chip;
    if (chips && from.nodes >= 0 && !torus_of(static_cast<std::size_t>(from.nodes)).empty()) {
      add_to_axis(id, graph_.edge(EdgeId{id}), static_cast<std::size_t>(from.nodes));
      continue;
    }
    const std::size_t a = std::min(edge.from, edge.to), b = std::max(edge.from, edge.to);
    const WireKey key{a, b, edge.link_class.value, edge.capacity.si()};
    PictureWire& wire = wires[key];
    wire = {a, b, edge.link_class, edge.capacity, edge.latency, 0, wire.load, wire.binding};
    if (answer_.loads) {
      wire.load = std::max(wire.load.value_or(0.0), share(id));
      wire.binding = wire.binding || answer_.loads->binding == EdgeId{id};
    }
    ++counts[key][edge.from <= edge.to ? 0 : 1];
  }
}

void Painter::add_wires() {
  std::map<WireKey, PictureWire> wires;
  std::map<WireKey, std::array<std::int64_t, 2>> counts;
  add_directed(wires, counts);
  for (auto& [key, wire] : wires) {
    const std::array<std::int64_t, 2>& both = counts[key];
    wire.count = wire.a == wire.b ? (both[0] + 1) / 2 : std::max(both[0], both[1]);
    const std::optional<std::size_t> frame = out_.boxes[wire.a].frame;
    if (frame && out_.boxes[wire.b].frame == frame) wire.count /= out_.frames[*frame].count;
    out_.wires.push_back(wire);
  }
}

std::string load_text(std::optional<double> load) {
  if (!load) return "";
  return *load > 0.0 ? ", load " + percent(*load) : ", idle";
}

} // namespace

Picture picture_of(const TopologyAnswer& answer) {
  return Painter(answer).paint();
}

std::string wire_text(const PictureWire& wire) {
  return fmt::format("{} × {}{}", grouped(wire.count), format_quantity(wire.rate, 3),
                     load_text(wire.load));
}

std::string axis_text(const PictureAxis& axis, std::size_t number) {
  return fmt::format("{}: {} {}{}", "xyz"[number], axis.axis.extent,
                     axis.axis.wraps ? "in a ring" : "in a line", load_text(axis.load));
}

int load_step(double load) {
  return std::clamp(static_cast<int>(load * 5.0), 0, 4);
}

} // namespace clustersim
