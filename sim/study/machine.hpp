#pragma once
// Nodes of one kind and the fabric between them, by name: what a command line or a row of evidence
// says of a machine, before there is a scenario.

#include "base/diagnostic.hpp"
#include "spec/catalogue.hpp"
#include "spec/cluster.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace clustersim {

struct MachineRequest {
  std::string node;
  std::int64_t nodes = 1;
  std::string fabric; // empty: chosen by the NICs
};

struct Machine {
  Cluster cluster;
  std::vector<std::string> assumptions; // sentences
};

/// As many chips as a graph may have that is built for one question.
inline constexpr std::int64_t most_chips = 262'144;

/// The likeliest fabric of cards of this link: the first rail-optimised one, else fat tree, else
/// any other; one switch where there is none.
[[nodiscard]] Fabric fabric_of_link(const std::vector<Fabric>& fabrics, const Link& link);

/// Nothing on error. Without a fabric, several nodes get the catalogue's likeliest.
[[nodiscard]] std::optional<Machine>
assemble_machine(const Catalogue& catalogue, const MachineRequest& request, Diagnostics& out);

/// The partition's nodes and fabric in words: "4 x DGX H100, Rail-optimised fat tree".
[[nodiscard]] std::string describe(const Cluster& cluster);

} // namespace clustersim
