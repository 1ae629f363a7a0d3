#include "spec/catalogue.hpp"

#include "base/text.hpp"
#include "spec/toml_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>

namespace clustersim {
namespace {

namespace fs = std::filesystem;

constexpr std::array all_kinds{Kind::chip,   Kind::transformer, Kind::node,
                               Kind::fabric, Kind::link,        Kind::stack,
                               Kind::recipe, Kind::optimizer,   Kind::calibration};
constexpr std::size_t most_files = 10000; // of one folder

std::vector<fs::path> toml_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml" && files.size() < most_files) {
      files.push_back(it->path());
    }
  }
  std::sort(files.begin(), files.end()); // the order of a directory is an accident
  return files;
}

// A broken file keeps its place in the index under its file name: whoever asks for it is told why.
CatalogueEntry index_entry(Kind kind, const fs::path& path) {
  CatalogueEntry entry;
  entry.kind = kind;
  entry.id = canonical_id(path.stem().string());
  entry.path = path.string();
  Diagnostics unheard;
  const auto text = read_text_file(entry.path, unheard);
  const auto root =
      text ? parse_input(make_source_text(entry.path, *text, Origin::catalogue), unheard)
           : std::nullopt;
  if (!root) {
    return entry;
  }
  const auto string = [&](const char* key) {
    const Tree* found = root->find(key);
    return found != nullptr && found->type == TreeType::string ? found->string : std::string();
  };
  if (!string("id").empty()) {
    entry.id = canonical_id(string("id"));
  }
  entry.name = string("name");
  if (const Tree* aliases = root->find("aliases")) {
    for (const Tree& alias : aliases->items) {
      if (alias.type == TreeType::string) {
        entry.aliases.push_back(alias.string);
      }
    }
  }
  return entry;
}

} // namespace

std::vector<std::string> data_roots(const std::string& scenario_path,
                                    const std::vector<std::string>& data_options,
                                    const std::string& compiled_in) {
  std::vector<std::string> wanted;
  if (!scenario_path.empty()) {
    const std::string folder = fs::path(scenario_path).parent_path().string();
    wanted.push_back(folder.empty() ? "." : folder);
  }
  wanted.insert(wanted.end(), data_options.begin(), data_options.end());
  if (const char* variable = std::getenv("CLUSTERSIM_DATA")) {
    for (const std::string& part : split(variable, ':')) {
      wanted.push_back(part);
    }
  }
  wanted.push_back(compiled_in);
  std::vector<std::string> roots;
  for (const std::string& root : wanted) {
    if (!root.empty() && std::find(roots.begin(), roots.end(), root) == roots.end()) {
      roots.push_back(root);
    }
  }
  return roots;
}

Catalogue::Catalogue(std::vector<std::string> roots) : roots_(std::move(roots)) {
  for (const Kind kind : all_kinds) {
    std::set<std::string> taken; // by an earlier root
    for (const std::string& root : roots_) {
      std::set<std::string> here;
      for (const fs::path& path : toml_files(fs::path(root) / directory_of(kind))) {
        CatalogueEntry entry = index_entry(kind, path);
        if (taken.count(entry.id) == 0) {
          here.insert(entry.id);
          entries_.push_back(std::move(entry));
        }
      }
      taken.merge(here);
    }
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const CatalogueEntry& a, const CatalogueEntry& b) {
                     return std::tie(a.kind, a.id) < std::tie(b.kind, b.id);
                   });
}

std::vector<const CatalogueEntry*> Catalogue::find(Kind kind, std::string_view name) const {
  const std::string wanted = canonical_id(name);
  std::vector<const CatalogueEntry*> by_id, by_name;
  for (const CatalogueEntry& entry : entries_) {
    if (entry.kind != kind) {
      continue;
    }
    if (entry.id == wanted) {
      by_id.push_back(&entry);
    } else if (canonical_id(entry.name) == wanted ||
               std::any_of(entry.aliases.begin(), entry.aliases.end(),
                           [&](const std::string& a) { return canonical_id(a) == wanted; })) {
      by_name.push_back(&entry);
    }
  }
  return by_id.empty() ? by_name : by_id;
}

} // namespace clustersim
