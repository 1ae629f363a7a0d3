#pragma once
// What a drawing of a machine shows, before anything has a place: boxes, wires and the frames of
// nodes, with what looks alike drawn once.

#include "study/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct PictureBox {
  VertexKind kind = VertexKind::chip;
  std::string title;      // "gpu3", "leaf"
  std::int64_t count = 1; // in one node, or outside nodes in all
  std::optional<std::size_t> frame;
  int level = 0; // of a network switch, 1 where cards plug in
};

/// Links of one class and rate between two boxes, both directions together.
struct PictureWire {
  std::size_t a = 0, b = 0;
  LinkClassId link_class;
  BytesPerSecond rate; // of one link, one direction
  Seconds latency;
  std::int64_t count = 0;     // of pairs of directions, in one node or in all
  std::optional<double> load; // largest share of the capacity that a collective takes
  bool binding = false;
};

/// One axis of a node that is a torus.
struct PictureAxis {
  TorusAxis axis;
  BytesPerSecond rate;
  LinkClassId link_class;
  std::optional<double> load;
  bool binding = false;
};

/// Nodes that look alike.
struct PictureFrame {
  std::string title, note; // "DGX H100", "8 x H100 SXM5 80GB"
  std::int64_t count = 1;
  std::vector<PictureAxis> torus;
};

struct Picture {
  std::vector<PictureBox> boxes;
  std::vector<PictureWire> wires; // none between the chips of a torus
  std::vector<PictureFrame> frames;
};

[[nodiscard]] Picture picture_of(const TopologyAnswer& answer);

/// "8 × 397 GB/s, load 62 %"
[[nodiscard]] std::string wire_text(const PictureWire& wire);
[[nodiscard]] std::string axis_text(const PictureAxis& axis, std::size_t number);
/// 0 … 4: by fifths of the capacity.
[[nodiscard]] int load_step(double load);

} // namespace clustersim
