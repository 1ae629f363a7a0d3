#include "spec/overlay.hpp"

#include "base/text.hpp"
#include "spec/objects.hpp"
#include "spec/settings.hpp"
#include "spec/toml_text.hpp"

#include <fmt/format.h>

namespace clustersim {
namespace {

constexpr std::size_t most_named = 8; // keys in a sentence

/// Dotted keys of all values below `tree`, with the values.
void leaves(const Tree& tree, const std::string& prefix,
            std::vector<std::pair<std::string, std::string>>& out) {
  for (const TreeMember& member : tree.members) {
    const Tree& value = member.value;
    const std::string key = prefix + member.key;
    if (is_annotated(value)) {
      out.emplace_back(key, written(*value.find("value")));
    } else if (value.type == TreeType::table) {
      leaves(value, key + ".", out);
    } else if (member.key != "source") {
      out.emplace_back(key, written(value));
    }
  }
}

/// Every object that the file names, as it then is: mistakes show even where nothing uses it.
void check_objects(const Overlay& overlay, const Loading& loading) {
  Loading probe{loading.catalogue, loading.out};
  probe.definitions = loading.definitions;
  probe.overlays = std::vector{overlay};
  for (const auto& [key, place] : overlay.places) {
    read_entry(probe, key.first, {key.second, place});
  }
}

} // namespace

const Schema<OverlayInput>& overlay_schema() {
  static const Schema<OverlayInput> schema = [] {
    using O = OverlayInput;
    using Fit = O::Fit;
    Schema<O> s{"overlay", "A calibration file laid over the catalogue (--calibration)", {}};
    add(s, "title", at(&O::title), "what it is");
    add(s, "note", at(&O::note), "what a reader should know");
    add(s, "fit.program", at(&O::fit, &Fit::program), "what wrote it, and its version");
    add(s, "fit.date", at(&O::fit, &Fit::date), "of the fit");
    add(s, "fit.files", at(&O::fit, &Fit::files), "files of measurements");
    add(s, "fit.rows", at(&O::fit, &Fit::rows), "rows that the constants were fitted to")
        .between(0, 1e9);
    const auto error = [&](const char* key, double Fit::*member, const char* help) {
      add(s, key, at(&O::fit, member), help).between(0, 1e6);
    };
    error("fit.error_before", &Fit::error_before, "mean error of those rows before, percent");
    error("fit.error_after", &Fit::error_after, "the same with this file");
    error("fit.error_left_out", &Fit::error_left_out,
          "the same, each row predicted by a fit to the others");
    add_custom(
        s, "override", "table", "[override.KIND.\"id\"] with keys of that file",
        [](const Given& given, O&) {
          if (given.tree.type != TreeType::table) {
            report(given, "'override' is a table");
          }
          return given.tree.type == TreeType::table;
        },
        "[override.KIND.\"id\"]: keys of that file, replaced")
        .required();
    return s;
  }();
  return schema;
}

void collect_tables(const Tree& root, const char* table, Loading& loading,
                    std::map<ObjectKey, Tree>& into, std::map<ObjectKey, Place>& places) {
  const Tree* kinds = root.find(table);
  if (kinds == nullptr || kinds->type != TreeType::table) {
    return; // the schema reports a value that is no table
  }
  const bool defines = &into == &loading.definitions;
  for (const TreeMember& of_kind : kinds->members) {
    const auto kind = kind_from(of_kind.key);
    if (!kind || of_kind.value.type != TreeType::table) {
      std::vector<std::string> names{"chip", "transformer", "node",   "fabric",
                                     "link", "stack",       "recipe", "calibration"};
      loading.out.add(diagnose(of_kind.key_place,
                               "'" + printable(of_kind.key.substr(0, 64)) + "' is not a kind",
                               "[" + std::string(table) +
                                   ".KIND.\"id\"] with KIND one of chip, "
                                   "transformer, node, fabric, link, stack, recipe, calibration",
                               nearest_name(of_kind.key.substr(0, 64), names).value_or("")));
      continue;
    }
    for (const TreeMember& one : of_kind.value.members) {
      if (one.value.type != TreeType::table) {
        loading.out.add(diagnose(one.value.place, "not a table",
                                 "[" + std::string(table) + "." + of_kind.key + ".\"id\"]"));
        continue;
      }
      const auto id = defines ? std::optional(canonical_id(one.key))
                              : resolve_id(loading, *kind, {one.key, one.key_place});
      if (!id) {
        continue;
      }
      places.emplace(ObjectKey{*kind, *id}, one.key_place);
      merge(into[{*kind, *id}], one.value);
    }
  }
}

bool is_overlay(const Tree& root) {
  return root.find("override") != nullptr && root.find("cluster") == nullptr &&
         root.find("training") == nullptr;
}

Overlay read_overlay(const std::string& file, const Tree& root, Loading& loading) {
  Overlay overlay;
  overlay.file = file;
  OverlayInput unused;
  ReadContext context{loading.out, ""};
  static_cast<void>(read_object(overlay_schema(), root, unused, context));
  collect_tables(root, "override", loading, overlay.overrides, overlay.places);
  check_objects(overlay, loading);
  return overlay;
}

std::optional<Tree> parse_overlay(const std::string& path, Diagnostics& out) {
  const auto bytes = read_text_file(path, out);
  return bytes ? parse_input(make_source_text(path, *bytes, Origin::calibration), out)
               : std::nullopt;
}

bool is_overlay_file(const std::string& path) {
  Diagnostics unheard;
  const auto root = parse_overlay(path, unheard);
  return root && is_overlay(*root);
}

std::optional<Overlay> load_overlay(const std::string& path, const Catalogue& catalogue,
                                    Diagnostics& out) {
  const auto root = parse_overlay(path, out);
  if (!root) {
    return std::nullopt;
  }
  if (root->find("gemm") != nullptr) {
    out.add(diagnose(root->find("gemm")->place, "this is the calibration of a whole family",
                     "[override.chip.\"id\"] tables, as `clustersim calibrate` writes them",
                     "a scenario takes it whole: [calibration] use = \"FILE.toml\""));
    return std::nullopt;
  }
  Loading loading{catalogue, out};
  auto overlay = read_overlay(path, *root, loading);
  return out.has_errors() ? std::nullopt : std::optional(std::move(overlay));
}

std::optional<Overlay> settings_overlay(const std::vector<std::string>& settings,
                                        const Catalogue& catalogue, Diagnostics& out) {
  Tree root;
  root.type = TreeType::table;
  apply_settings(settings, root, out);
  for (const TreeMember& member : root.members) {
    if (member.key != "override") {
      out.add(diagnose(member.key_place, "there is no scenario here whose keys could be set",
                       "a key of the catalogue, such as override.chip.h100.memory.bandwidth"));
    }
  }
  if (out.has_errors()) {
    return std::nullopt;
  }
  Loading loading{catalogue, out};
  auto overlay = read_overlay("--set", root, loading);
  return out.has_errors() ? std::nullopt : std::optional(std::move(overlay));
}

std::optional<std::string> overlay_sentence(const Overlay& overlay, const ObjectKey& object) {
  const auto found = overlay.overrides.find(object);
  if (found == overlay.overrides.end()) {
    return std::nullopt;
  }
  std::vector<std::pair<std::string, std::string>> keys;
  leaves(found->second, "", keys);
  std::string text;
  for (std::size_t i = 0; i < std::min(keys.size(), most_named); ++i) {
    constexpr std::string_view table = "calibration.";
    const std::string& key = keys[i].first;
    text += fmt::format("{}{} = {}", i == 0 ? "" : ", ",
                        key.compare(0, table.size(), table) == 0 ? key.substr(table.size()) : key,
                        keys[i].second);
  }
  if (keys.size() > most_named) {
    text += fmt::format(" and {} more", keys.size() - most_named);
  }
  return fmt::format("Calibration {}: {} {} with {}.", overlay.file, name_of(object.first),
                     object.second, text);
}

} // namespace clustersim
