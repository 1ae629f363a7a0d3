#pragma once
// The machine that a name of published collectives means: "h100x8_aws_p5_efa3200",
// "rtx4090x4_pcie4_nop2p", "gb200_nvl72" (docs/validation.md).
//
//   name  = chip [x count] { "_" word }      words in parentheses or after "-" count alike
//   chip    one or more words that begin an id, alias or name of the catalogue
//   word    what models/resolver/collectives.csv makes of it, by the condition word=…:
//             node    an entry of the catalogue that it names
//             join    how chips are joined: switched, mesh, bridged, none (PCIe alone)
//             peer    whether chips reach each other without host memory
//             nic     the link of the network cards; "x4" behind the word is how many a node has
//             fabric  an entry of the catalogue
//             rack    true: several trays are one scale-up domain
//
// The node is the one of the catalogue that agrees in most of these; where none has this chip, one
// that is joined alike has this chip put in place of its own, if its ports suffice.

#include "foreign/csv.hpp"
#include "spec/catalogue.hpp"
#include "spec/cluster.hpp"
#include "study/resolver_rules.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// Every chip, node and fabric of the catalogue, read once.
struct Shelf {
  std::vector<Chip> chips;
  std::vector<Node> nodes;
  std::vector<Fabric> fabrics;
  std::vector<Link> links;
};
[[nodiscard]] Shelf load_shelf(const Catalogue& catalogue);

struct NamedSystem {
  Cluster cluster;
  std::vector<std::string> assumptions; // sentences
};

/// The machine of a row with columns system, ranks and nodes; nothing when its name says too
/// little, and `why` then says what is missing.
[[nodiscard]] std::optional<NamedSystem> named_system(const CsvTable& table, std::size_t row,
                                                      const ResolverRules& rules,
                                                      const Shelf& shelf, std::string& why);

} // namespace clustersim
