#include "base/range.hpp"
#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/collective.hpp"
#include "study/machine.hpp"

#include <algorithm>

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

CollectiveKind kind_from(const std::string& word) {
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
  if (text.empty()) return otherwise;
  RangeError error;
  const auto counts = parse_count_range(text, Suffixes::none, error);
  if (!counts || counts->size() != 1 || counts->front() < 1 || counts->front() > most_chips) {
    throw misuse(
        fmt::format("{} '{}' is no number from 1 to {}", option, printable(text), most_chips));
  }
  return static_cast<int>(counts->front());
}

std::vector<Bytes> sizes_from(const std::string& text) {
  RangeError error;
  const auto sizes = parse_quantity_range<Bytes>(text.empty() ? "8B..8GiB" : text, error);
  if (!sizes) throw misuse("--sizes: " + error.message, "expected " + error.expected);
  return *sizes;
}

bool names_a_file(const std::string& name) {
  return name.ends_with(".toml") || name.find('/') != std::string::npos;
}

/// A node of the catalogue with a fabric, or the cluster of a scenario.
std::optional<Machine> machine_from(const Options& options, ExitCode& code) {
  if (names_a_file(options.topology)) {
    if (!options.nodes.empty() || !options.fabric.empty()) {
      throw misuse("--nodes and --fabric go with a node, and a scenario has its own",
                   "try: --set cluster.nodes=4");
    }
    const auto scenario = load(options, config_path(options, options.topology), code);
    return scenario ? std::optional(Machine{scenario->cluster, {}}) : std::nullopt;
  }
  if (!options.settings.empty()) {
    throw misuse("--set goes with a scenario", "give --topology a scenario file");
  }
  const Catalogue catalogue(roots_of(options, "./"));
  Diagnostics diagnostics;
  const MachineRequest request{options.topology, count_from("--nodes", options.nodes, 1),
                               options.fabric};
  auto machine = assemble_machine(catalogue, request, diagnostics);
  print(options, diagnostics);
  code = diagnostics.exit_code();
  return machine;
}

} // namespace

ExitCode collective_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  if (options.arguments.empty() || options.topology.empty()) {
    throw misuse("'collective' needs a collective and a machine",
                 "try: clustersim collective all_reduce --topology dgx-h100");
  }
  CollectiveQuestion question;
  question.kind = kind_from(options.arguments.front());
  question.algorithm = algorithm_from(options.algorithm);
  question.sizes = sizes_from(options.sizes);
  question.ranks = count_from("--ranks", options.ranks, 0);
  question.concurrent = count_from("--concurrent", options.concurrent, 1);
  ExitCode code = ExitCode::done;
  const auto machine = machine_from(options, code);
  if (!machine) return code;
  std::string why;
  auto sweep = sweep_collective(machine->cluster, question, why);
  if (!sweep) throw misuse(why);
  sweep->assumptions.insert(sweep->assumptions.begin(), machine->assumptions.begin(),
                            machine->assumptions.end());
  deliver(options, format == Format::json  ? render_collective_json(*sweep, CLUSTERSIM_VERSION)
                   : format == Format::csv ? render_collective_csv(*sweep)
                                           : render_collective_text(*sweep, output_style(options)));
  return ExitCode::done;
}

} // namespace clustersim::cli
