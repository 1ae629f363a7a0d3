#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/kinds.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/listing.hpp"
#include "spec/inspect.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

template <class T>
std::string note_of(const std::optional<T>& object) {
  return object ? object->note : "";
}

/// Fills values and note of `details`; false when the entry does not load.
bool open_entry(const Catalogue& catalogue, const CatalogueEntry& entry, Details& details,
                Diagnostics& out) {
  std::vector<ResolvedValue>* values = &details.values;
  switch (entry.kind) {
  case Kind::chip:
    details.note = note_of(load_chip(catalogue, entry.id, out, values));
    break;
  case Kind::transformer:
    details.note = note_of(load_transformer(catalogue, entry.id, out, values));
    break;
  case Kind::node:
    details.note = note_of(load_node(catalogue, entry.id, out, values));
    break;
  case Kind::fabric:
    details.note = note_of(load_fabric(catalogue, entry.id, out, values));
    break;
  case Kind::link:
    details.note = note_of(load_link(catalogue, entry.id, out, values));
    break;
  case Kind::stack:
    details.note = note_of(load_stack(catalogue, entry.id, out, values));
    break;
  case Kind::optimizer:
    details.note = note_of(load_optimizer(catalogue, entry.id, out, values));
    break;
  case Kind::recipe:
  case Kind::calibration:
    details.values = entry_values(catalogue, entry.kind, entry.id, out);
    break;
  }
  return !out.has_errors();
}

using Kinds = std::vector<Kind>;

std::vector<const CatalogueEntry*> matches(const Catalogue& catalogue, const std::string& name,
                                           const Kinds& kinds) {
  std::vector<const CatalogueEntry*> out;
  for (const Kind kind : kinds) {
    const auto found = catalogue.find(kind, name);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

const CatalogueEntry& only_match(const Catalogue& catalogue, const std::string& name,
                                 const Kinds& kinds) {
  const auto found = matches(catalogue, name, kinds);
  if (found.size() == 1) {
    return *found.front();
  }
  if (found.empty()) {
    std::vector<std::string> known;
    for (const CatalogueEntry& entry : catalogue.entries()) {
      if (std::find(kinds.begin(), kinds.end(), entry.kind) != kinds.end()) {
        known.push_back(entry.id);
        known.insert(known.end(), entry.aliases.begin(), entry.aliases.end());
      }
    }
    for (const CatalogueEntry* other :
         matches(catalogue, name, {all_kinds.begin(), all_kinds.end()})) {
      throw misuse(
          fmt::format("{} '{}' is no {}", name_of(other->kind), other->id, name_of(kinds.front())),
          fmt::format("try: clustersim show {} {}", name_of(other->kind), other->id));
    }
    const auto near = nearest_name(name, known);
    throw misuse(fmt::format("nothing in the catalogue is called '{}'", printable(name)),
                 near ? fmt::format("did you mean \"{}\"?", *near) : "see clustersim list");
  }
  std::string candidates = "say which:";
  for (const CatalogueEntry* entry : found) {
    candidates += fmt::format("\n    clustersim show {} {}", name_of(entry->kind), entry->id);
  }
  throw misuse(fmt::format("'{}' can mean {} things", printable(name), found.size()), candidates);
}

ExitCode finish(const Options& options, const Details& details) {
  const Format format = chosen_format(options, {Format::text, Format::json});
  deliver(options, format == Format::json ? render_show_json(details, CLUSTERSIM_VERSION)
                                          : render_show_text(details, output_style(options)));
  return ExitCode::done;
}

ExitCode show_scenario(const Options& options, const std::string& path) {
  ExitCode code = ExitCode::done;
  const auto scenario = load(options, path, code);
  if (!scenario) {
    return code;
  }
  const std::string id = std::filesystem::path(path).stem().string();
  return finish(options, {"scenario",
                          id,
                          scenario->title.empty() ? id : scenario->title,
                          {},
                          path,
                          "",
                          scenario->inputs});
}

} // namespace

ExitCode show_verb(const Options& options) {
  if (options.arguments.empty()) {
    throw misuse("'show' needs a name", "try: clustersim show h100");
  }
  const std::string& name = options.arguments.back();
  std::error_code none;
  const bool one = options.arguments.size() == 1;
  if (one && name.ends_with(".toml") && std::filesystem::exists(name, none)) {
    return show_scenario(options, name);
  }
  const std::string& first = options.arguments.front();
  if (!one && (first == "config" || first == "configs")) {
    return show_scenario(options, config_path(options, name));
  }
  if (!options.settings.empty()) {
    throw misuse("--set changes scenarios; it does not apply to an entry of the catalogue");
  }
  const Catalogue catalogue = open_catalogue(options, "./");
  const Kinds kinds =
      one ? Kinds(all_kinds.begin(), all_kinds.end()) : Kinds{kind_from(first, {"configs"})};
  const CatalogueEntry& entry = only_match(catalogue, name, kinds);
  Details details{
      std::string{name_of(entry.kind)}, entry.id, entry.name, entry.aliases, entry.path, "", {}};
  Diagnostics diagnostics;
  const bool good = open_entry(catalogue, entry, details, diagnostics);
  print(options, diagnostics);
  return good ? finish(options, details) : diagnostics.exit_code();
}

} // namespace clustersim::cli
