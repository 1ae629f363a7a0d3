#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "spec/inspect.hpp"
#include "spec/load.hpp"
#include "spec/overlay.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

/// What the file is, for the line that says it is good.
std::string check_one(const Options& options, const std::string& path, Diagnostics& out) {
  const Catalogue catalogue = open_catalogue(options, path);
  if (const auto kind = check_entry_file(path, catalogue, out)) {
    return std::string{name_of(*kind)};
  }
  if (!out.has_errors() && is_overlay_file(path)) {
    static_cast<void>(load_overlay(path, catalogue, out));
    return "calibration file";
  }
  if (!out.has_errors()) {
    static_cast<void>(load_scenario(path, catalogue, load_options(options), out));
  }
  return "scenario";
}

} // namespace

ExitCode check_verb(const Options& options) {
  if (options.arguments.empty()) {
    throw misuse("'check' needs a file", "try: clustersim check my-cluster.toml");
  }
  ExitCode worst = ExitCode::done;
  std::string good;
  for (const std::string& name : options.arguments) {
    const std::string path = config_path(options, name);
    Diagnostics diagnostics;
    const std::string kind = check_one(options, path, diagnostics);
    print(options, diagnostics);
    if (!diagnostics.has_errors()) {
      good += fmt::format("{}: good ({})\n", printable(path), kind);
      continue;
    }
    const bool unreadable = diagnostics.exit_code() == ExitCode::cannot_read_or_write;
    worst = std::max(worst, unreadable ? ExitCode::cannot_read_or_write : ExitCode::check_failed);
  }
  if (!options.quiet) {
    deliver(options, good);
  }
  return worst;
}

} // namespace clustersim::cli
