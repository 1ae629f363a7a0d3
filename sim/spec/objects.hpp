#pragma once
// Whole objects by name: the catalogue's file, what the scenario replaces in it, everything it
// refers to.

#include "spec/catalogue.hpp"
#include "spec/schemas.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace clustersim {

/// A name as an input wrote it.
struct Name {
  std::string text;
  Place place; // nowhere: asked for on the command line
};

/// State of one loading: what the scenario adds to the catalogue, and what was found so far.
struct Loading {
  const Catalogue& catalogue;
  Diagnostics& out;
  std::map<ObjectKey, Tree> overrides{}, definitions{};
  std::optional<std::vector<Overlay>> overlays{}; // in place of the catalogue's
  std::optional<Name> calibration{};              // in place of the chip's own
  std::string folder{};                           // of the scenario
  std::vector<ResolvedValue> values{};
  std::set<ObjectKey> used{};
};

[[nodiscard]] std::optional<Kind> kind_from(std::string_view name);
/// The one entry that `name` means, or a diagnostic: unknown (with the nearest), ambiguous (with
/// all).
[[nodiscard]] std::optional<std::string> resolve_id(Loading& loading, Kind kind, const Name& name);
/// Overlays of this loading, the later over the earlier.
[[nodiscard]] const std::vector<Overlay>& overlays_of(const Loading& loading);
/// [override.KIND."id"] and [define.KIND."id"] of `root`: trees by kind and id. A definition is
/// named as it is written, an override after what its name means.
void collect_tables(const Tree& root, const char* table, Loading& loading,
                    std::map<ObjectKey, Tree>& into, std::map<ObjectKey, Place>& places);
/// Where the scenario overrides a chip's clock but none of its peaks: the clock that the chip's own
/// file states.
[[nodiscard]] std::optional<Hertz> replaced_clock(const Loading& loading, const std::string& id);
[[nodiscard]] bool is_overlay(const Tree& root);
[[nodiscard]] std::optional<Tree> parse_overlay(const std::string& path, Diagnostics& out);
/// Its objects checked; problems go to loading.out.
[[nodiscard]] Overlay read_overlay(const std::string& file, const Tree& root, Loading& loading);
/// What `[calibration] use` names: an overlay, or a calibration in place of the chip's.
void use_calibration(Loading& loading, const Name& name);
/// The file's tree with overrides laid on it, the overlays' first.
[[nodiscard]] std::optional<Tree> open_object(Loading& loading, Kind kind, const std::string& id,
                                              const Place& place);

/// What `name` means and its tree.
struct NamedTree {
  std::string id;
  Tree tree;
};
[[nodiscard]] std::optional<NamedTree> open_named(Loading& loading, Kind kind, const Name& name);

[[nodiscard]] std::optional<Link> load(Loading& loading, const Name& name, Link);
[[nodiscard]] std::optional<Chip> load(Loading& loading, const Name& name, Chip);
[[nodiscard]] std::optional<Node> load(Loading& loading, const Name& name, Node);
[[nodiscard]] std::optional<Fabric> load(Loading& loading, const Name& name, Fabric);
[[nodiscard]] std::optional<Stack> load(Loading& loading, const Name& name, Stack);
[[nodiscard]] std::optional<Optimizer> load(Loading& loading, const Name& name, Optimizer);
[[nodiscard]] std::optional<Transformer> load(Loading& loading, const Name& name, Transformer);
[[nodiscard]] std::optional<FusionRecipe> load(Loading& loading, const Name& name, FusionRecipe);
/// From a tree of a transformer file's shape.
[[nodiscard]] std::optional<Transformer> read_transformer(Loading& loading, const Tree& root,
                                                          const std::string& id);
/// An object of any kind: problems go to loading.out, figures to loading.values.
void read_entry(Loading& loading, Kind kind, const Name& name);
/// A calibration with a chip's own keys laid on it.
[[nodiscard]] std::optional<KernelCalibration> load_calibration(Loading& loading, const Name& name,
                                                                const Tree* replaced);

/// Appends echoes to loading.values in file order, defaults last.
void keep(Loading& loading, std::vector<Echo> echo);

/// Reads an object, lets `finish` fill derived defaults and check, echoes. Nothing on new errors.
template <class T, class Finish>
std::optional<T> read_whole(Loading& loading, const Schema<T>& schema, const Tree& root,
                            const std::string& id, Finish finish) {
  Diagnostics found;
  ReadContext context{found, schema.name + "." + id + "."};
  T object;
  const Reading reading = read_object(schema, root, object, context);
  if (!found.has_errors()) {
    finish(object, reading, found);
  }
  for (const Diagnostic& diagnostic : found.sorted()) {
    loading.out.add(diagnostic);
  }
  if (found.has_errors()) {
    return std::nullopt;
  }
  if (loading.used.insert({kind_from(schema.name).value(), id}).second) {
    echo_object(schema, object, reading, context);
    keep(loading, std::move(context.echo));
  }
  return object;
}

} // namespace clustersim
