#pragma once
// Finding data files by name: chips, transformers, nodes, fabrics, links, stacks, recipes,
// optimizers, calibrations. Search path, first match wins: the scenario's folder, --data DIR,
// $CLUSTERSIM_DATA, the data directory. In each: models/chips, models/transformers, models/stacks,
// models/recipes, models/optimizers, models/calibrations, topologies/nodes, topologies/fabrics,
// topologies/links.

#include "base/diagnostic.hpp"
#include "spec/scenario.hpp"
#include "spec/tree.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace clustersim {

enum class Kind { chip, transformer, node, fabric, link, stack, recipe, optimizer, calibration };

[[nodiscard]] std::string_view name_of(Kind kind);      // "chip"
[[nodiscard]] std::string_view directory_of(Kind kind); // "models/chips"

using ObjectKey = std::pair<Kind, std::string>; // kind, id

/// A calibration file laid over the catalogue: keys of its entries, replaced (spec/overlay.hpp).
struct Overlay {
  std::string file; // as the user spelt it
  std::map<ObjectKey, Tree> overrides;
  std::map<ObjectKey, Place> places; // where each is named
};

struct CatalogueEntry {
  Kind kind = Kind::chip;
  std::string id, name;
  std::vector<std::string> aliases;
  std::string path;
};

/// Where data files are looked for: the scenario's folder (if there is a scenario), each --data,
/// $CLUSTERSIM_DATA (several with ':' between), then the directory compiled in. Without repeats.
[[nodiscard]] std::vector<std::string> data_roots(const std::string& scenario_path,
                                                  const std::vector<std::string>& data_options,
                                                  const std::string& compiled_in);

/// An index of the data directories: reads only ids, names and aliases up front, files on demand.
class Catalogue {
public:
  /// `roots` in order of precedence. Unreadable or broken files become diagnostics when asked for.
  explicit Catalogue(std::vector<std::string> roots);

  [[nodiscard]] const std::vector<CatalogueEntry>& entries() const {
    return entries_;
  } // by kind, id
  [[nodiscard]] const std::vector<std::string>& roots() const { return roots_; }
  /// What --calibration names: every object is loaded with it from then on.
  [[nodiscard]] const std::vector<Overlay>& overlays() const { return overlays_; }
  void lay(Overlay overlay) { overlays_.push_back(std::move(overlay)); } // over those before it
  /// All entries of `kind` that `name` can mean: ids first, then aliases and names; case-blind, _ ≡
  /// -.
  [[nodiscard]] std::vector<const CatalogueEntry*> find(Kind kind, std::string_view name) const;

private:
  std::vector<std::string> roots_;
  std::vector<CatalogueEntry> entries_;
  std::vector<Overlay> overlays_;
};

// Whole objects by name, with everything they refer to. `values` (if given) receives each figure
// with unit and source, in file order: what `show` prints.
[[nodiscard]] std::optional<Chip> load_chip(const Catalogue&, std::string_view name,
                                            Diagnostics& out,
                                            std::vector<ResolvedValue>* values = nullptr);
[[nodiscard]] std::optional<Transformer>
load_transformer(const Catalogue&, std::string_view name, Diagnostics& out,
                 std::vector<ResolvedValue>* values = nullptr);
[[nodiscard]] std::optional<Node> load_node(const Catalogue&, std::string_view name,
                                            Diagnostics& out,
                                            std::vector<ResolvedValue>* values = nullptr);
[[nodiscard]] std::optional<Fabric> load_fabric(const Catalogue&, std::string_view name,
                                                Diagnostics& out,
                                                std::vector<ResolvedValue>* values = nullptr);
[[nodiscard]] std::optional<Link> load_link(const Catalogue&, std::string_view name,
                                            Diagnostics& out,
                                            std::vector<ResolvedValue>* values = nullptr);
[[nodiscard]] std::optional<Stack> load_stack(const Catalogue&, std::string_view name,
                                              Diagnostics& out,
                                              std::vector<ResolvedValue>* values = nullptr);
[[nodiscard]] std::optional<Optimizer> load_optimizer(const Catalogue&, std::string_view name,
                                                      Diagnostics& out,
                                                      std::vector<ResolvedValue>* values = nullptr);

} // namespace clustersim
