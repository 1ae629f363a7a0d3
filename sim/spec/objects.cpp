#include "spec/objects.hpp"

#include "base/text.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

namespace clustersim {
namespace {

constexpr std::size_t longest_name = 64;

Diagnostic about(const Name& name, std::string message, std::string expected = {},
                 std::string suggestion = {}) {
  Diagnostic diagnostic =
      diagnose(name.place, std::move(message), std::move(expected), std::move(suggestion));
  if (!name.place.text) {
    diagnostic.where.file = "command line";
  }
  return diagnostic;
}

std::string shortened(const std::string& text) {
  return text.size() > longest_name ? text.substr(0, longest_name) + "…" : text;
}

// Nearest of all ids, names and aliases; an alias near enough is answered as written.
std::string nearest_entry(const Loading& loading, Kind kind, const std::string& name) {
  if (name.size() > longest_name) {
    return {};
  }
  std::vector<std::string> ids, others;
  for (const auto& [key, tree] : loading.definitions) {
    if (key.first == kind) {
      ids.push_back(key.second);
    }
  }
  for (const CatalogueEntry& entry : loading.catalogue.entries()) {
    if (entry.kind == kind) {
      ids.push_back(entry.id);
      others.push_back(canonical_id(entry.name));
      for (const std::string& alias : entry.aliases) {
        others.push_back(canonical_id(alias));
      }
    }
  }
  const auto near = nearest_name(canonical_id(name), ids);
  return near ? *near : nearest_name(canonical_id(name), others).value_or("");
}

std::string known_ids(const Loading& loading, Kind kind) {
  constexpr std::size_t most_listed = 12;
  std::vector<std::string> ids;
  for (const CatalogueEntry& entry : loading.catalogue.entries()) {
    if (entry.kind == kind) {
      ids.push_back(entry.id);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), most_listed); ++i) {
    text += (i > 0 ? ", " : "") + ids[i];
  }
  if (ids.size() > most_listed) {
    text += " or one of " + std::to_string(ids.size() - most_listed) + " more";
  }
  return text.empty() ? "" : "a " + std::string(name_of(kind)) + ": " + text;
}

} // namespace

std::optional<Kind> kind_from(std::string_view name) {
  for (const Kind kind : {Kind::chip, Kind::transformer, Kind::node, Kind::fabric, Kind::link,
                          Kind::stack, Kind::recipe, Kind::optimizer, Kind::calibration}) {
    if (name_of(kind) == name) {
      return kind;
    }
  }
  return std::nullopt;
}

std::optional<std::string> resolve_id(Loading& loading, Kind kind, const Name& name) {
  const std::string wanted = canonical_id(name.text);
  if (loading.definitions.count({kind, wanted}) > 0) {
    return wanted;
  }
  const std::string what(name_of(kind));
  if (name.text.find('/') != std::string::npos || name.text.find("..") != std::string::npos) {
    loading.out.add(
        about(name, "'" + shortened(name.text) + "' is a path, not the name of a " + what,
              known_ids(loading, kind), "names are looked up in the data directories; see --data"));
    return std::nullopt;
  }
  const auto found = loading.catalogue.find(kind, name.text);
  if (found.empty()) {
    const std::string near = nearest_entry(loading, kind, name.text);
    loading.out.add(about(name, "unknown " + what + " '" + shortened(name.text) + "'",
                          near.empty() ? known_ids(loading, kind) : "", near));
    return std::nullopt;
  }
  if (found.size() > 1) {
    std::string candidates;
    for (const CatalogueEntry* entry : found) {
      candidates += (candidates.empty() ? "" : ", ") + entry->id;
    }
    loading.out.add(
        about(name, "'" + name.text + "' can mean several " + what + "s", "one of " + candidates));
    return std::nullopt;
  }
  return found.front()->id;
}

std::optional<Tree> open_object(Loading& loading, Kind kind, const std::string& id,
                                const Place& place) {
  std::optional<Tree> root;
  if (const auto it = loading.definitions.find({kind, id}); it != loading.definitions.end()) {
    root = it->second;
  } else {
    const auto found = loading.catalogue.find(kind, id);
    if (found.empty()) {
      loading.out.add(
          about({id, place}, "unknown " + std::string(name_of(kind)) + " '" + id + "'"));
      return std::nullopt;
    }
    const auto bytes = read_text_file(found.front()->path, loading.out);
    if (!bytes) {
      return std::nullopt;
    }
    const auto text = make_source_text(found.front()->path, *bytes, Origin::catalogue);
    text->label = std::string(directory_of(kind)) + "/" +
                  std::filesystem::path(found.front()->path).filename().string();
    root = parse_input(text, loading.out);
  }
  const auto lay = [&](const std::map<ObjectKey, Tree>& overrides) {
    const auto it = overrides.find({kind, id});
    if (root && it != overrides.end()) {
      merge(*root, it->second);
    }
  };
  for (const Overlay& overlay : overlays_of(loading)) {
    lay(overlay.overrides);
  }
  lay(loading.overrides);
  return root;
}

const std::vector<Overlay>& overlays_of(const Loading& loading) {
  return loading.overlays ? *loading.overlays : loading.catalogue.overlays();
}

void keep(Loading& loading, std::vector<Echo> echo) {
  const auto rank = [](const Echo& e) {
    return std::tuple(e.line == 0 && e.column == 0, e.line, e.column);
  };
  std::stable_sort(echo.begin(), echo.end(),
                   [&](const Echo& a, const Echo& b) { return rank(a) < rank(b); });
  for (Echo& one : echo) {
    loading.values.push_back(std::move(one.value));
  }
}

std::optional<NamedTree> open_named(Loading& loading, Kind kind, const Name& name) {
  auto id = resolve_id(loading, kind, name);
  auto tree = id ? open_object(loading, kind, *id, name.place) : std::nullopt;
  if (!tree) {
    return std::nullopt;
  }
  return NamedTree{std::move(*id), std::move(*tree)};
}

namespace {

template <class T>
std::optional<T> load_public(const Catalogue& catalogue, std::string_view name, Diagnostics& out,
                             std::vector<ResolvedValue>* values) {
  Loading loading{catalogue, out};
  auto object = load(loading, Name{std::string(name), {}}, T{});
  if (values != nullptr) {
    values->insert(values->end(), loading.values.begin(), loading.values.end());
  }
  return object;
}

} // namespace

std::optional<Chip> load_chip(const Catalogue& catalogue, std::string_view name, Diagnostics& out,
                              std::vector<ResolvedValue>* values) {
  return load_public<Chip>(catalogue, name, out, values);
}
std::optional<Transformer> load_transformer(const Catalogue& catalogue, std::string_view name,
                                            Diagnostics& out, std::vector<ResolvedValue>* values) {
  return load_public<Transformer>(catalogue, name, out, values);
}
std::optional<Node> load_node(const Catalogue& catalogue, std::string_view name, Diagnostics& out,
                              std::vector<ResolvedValue>* values) {
  return load_public<Node>(catalogue, name, out, values);
}
std::optional<Fabric> load_fabric(const Catalogue& catalogue, std::string_view name,
                                  Diagnostics& out, std::vector<ResolvedValue>* values) {
  return load_public<Fabric>(catalogue, name, out, values);
}
std::optional<Link> load_link(const Catalogue& catalogue, std::string_view name, Diagnostics& out,
                              std::vector<ResolvedValue>* values) {
  return load_public<Link>(catalogue, name, out, values);
}
std::optional<Stack> load_stack(const Catalogue& catalogue, std::string_view name, Diagnostics& out,
                                std::vector<ResolvedValue>* values) {
  return load_public<Stack>(catalogue, name, out, values);
}
std::optional<Optimizer> load_optimizer(const Catalogue& catalogue, std::string_view name,
                                        Diagnostics& out, std::vector<ResolvedValue>* values) {
  return load_public<Optimizer>(catalogue, name, out, values);
}

} // namespace clustersim
