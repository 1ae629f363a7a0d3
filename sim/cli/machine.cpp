#include "cli/machine.hpp"

#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/words.hpp"
#include "spec/overlay.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

/// The value among `known` that `word` means, '-' and '_' alike.
std::size_t chosen(std::string_view what, const std::string& word,
                   const std::vector<std::string>& known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
    return canonical_id(name) == canonical_id(word);
  });
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  std::string all;
  for (const std::string& name : known)
    all += (all.empty() ? "expected one of " : ", ") + name;
  const auto near = nearest_name(word, known);
  throw misuse(fmt::format("no {} '{}'", what, printable(word)),
               near ? fmt::format("did you mean \"{}\"?", *near) : all);
}

bool names_a_scenario(const Options& options, const Catalogue& catalogue, const std::string& name) {
  if (name.ends_with(".toml") || name.find('/') != std::string::npos) return true;
  if (!catalogue.find(Kind::node, name).empty()) return false;
  const std::vector<ConfigEntry> known = configs(roots_of(options));
  return std::any_of(known.begin(), known.end(), [&](const ConfigEntry& config) {
    return canonical_id(config.id) == canonical_id(name);
  });
}

/// "nic.gpu_direct=false" as what [override] calls it.
std::string qualified(const Options& options, const std::string& node, const std::string& setting) {
  constexpr std::array sections{"node.", "scale_up.", "host.", "nic.", "site."};
  const auto starts = [&](const char* section) { return setting.starts_with(section); };
  if (std::any_of(sections.begin(), sections.end(), starts)) {
    return fmt::format("override.node.\"{}\".{}", node, setting);
  }
  if (!setting.starts_with("fabric.")) return setting;
  if (options.fabric.empty()) {
    throw misuse("--set fabric.… needs a fabric by name", "try: --fabric rail-optimized-ndr");
  }
  return fmt::format("override.fabric.\"{}\".{}", options.fabric, setting);
}

std::optional<Machine> machine_of_node(const Options& options, Catalogue& catalogue,
                                       const std::string& name, ExitCode& code) {
  Diagnostics diagnostics;
  std::vector<std::string> settings;
  for (const std::string& setting : options.settings)
    settings.push_back(qualified(options, name, setting));
  if (!settings.empty()) {
    if (auto overlay = settings_overlay(settings, catalogue, diagnostics)) {
      catalogue.lay(std::move(*overlay));
    }
  }
  const MachineRequest request{name, count_from("--nodes", options.nodes, 1), options.fabric};
  auto machine = assemble_machine(catalogue, request, diagnostics);
  print(options, diagnostics);
  code = diagnostics.exit_code();
  return code == ExitCode::done ? std::move(machine) : std::nullopt;
}

} // namespace

std::optional<Machine> machine_from(const Options& options, const std::string& name,
                                    ExitCode& code) {
  Catalogue catalogue = open_catalogue(options, "./");
  if (!names_a_scenario(options, catalogue, name)) {
    return machine_of_node(options, catalogue, name, code);
  }
  if (!options.nodes.empty() || !options.fabric.empty()) {
    throw misuse("--nodes and --fabric go with a node, and a scenario has its own",
                 "try: --set cluster.nodes=4");
  }
  const auto scenario = load(options, config_path(options, name), code);
  return scenario ? std::optional(Machine{scenario->cluster, {}}) : std::nullopt;
}

CollectiveKind collective_from(const std::string& word) {
  std::vector<std::string> names;
  for (const CollectiveKind kind : all_collective_kinds)
    names.emplace_back(name_of(kind));
  return all_collective_kinds.at(chosen("collective", word, names));
}

std::string algorithm_from(const std::string& word) {
  std::vector<std::string> names{std::string{automatic_choice}};
  for (const CollectiveAlgorithm& row : collective_algorithms())
    names.emplace_back(row.name);
  return word.empty() ? names.front() : names.at(chosen("algorithm", word, names));
}

int count_from(std::string_view option, const std::string& text, int otherwise) {
  return text.empty() ? otherwise : whole_number(option, text, most_chips);
}

} // namespace clustersim::cli
