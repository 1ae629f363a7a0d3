#pragma once
// A link graph in figures: what `topology` prints before it draws.

#include "network/cut.hpp"
#include "network/link_graph.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

inline constexpr std::size_t vertex_kinds = 8;

/// All links of one class between two kinds of vertex.
struct LinkTier {
  VertexKind a = VertexKind::chip, b = VertexKind::chip;
  LinkClassId link_class;
  std::int64_t links = 0;          // pairs of directions; a one-way edge counts half
  BytesPerSecond slowest, fastest; // of one link, achieved, one direction
  BytesPerSecond total;            // of all of them, one direction
  Seconds latency;
};

/// One tier of network switches.
struct SwitchTier {
  std::string name; // "leaf", "spine"
  std::int64_t switches = 0;
  BytesPerSecond down, up; // of the switch with the largest ratio; up = 0 at the top
  [[nodiscard]] double oversubscription() const { return up.si() > 0.0 ? down / up : 1.0; }
};

enum class Medium { scale_up, peer_to_peer, host_memory, network };
[[nodiscard]] std::string_view name_of(Medium medium);

/// What a chip reaches by one medium: ranges over its peers, each alone on the machine.
struct Reach {
  Medium medium = Medium::scale_up;
  LinkClassId link_class; // that bounds the slowest of the routes
  std::int64_t peers = 0;
  BytesPerSecond slowest, fastest;
  int fewest_hops = 0, most_hops = 0;
  Seconds shortest, longest;
};

struct Survey {
  std::array<std::int64_t, vertex_kinds> vertices{}; // by VertexKind
  std::int64_t edges = 0;
  std::vector<LinkTier> tiers; // node first, fabric last
  std::vector<SwitchTier> switches;
  std::vector<Reach> reaches;       // of chip 0
  int diameter = 0;                 // hops between the farthest chips
  Seconds diameter_latency;         // of that route
  std::size_t diameter_sources = 0; // chips from which it was measured
  Bisection bisection;
};

[[nodiscard]] Survey survey_of(const LinkGraph& graph);

} // namespace clustersim
