#pragma once
// Where data files are found, and scenarios through them.

#include "base/diagnostic.hpp"
#include "cli/options.hpp"
#include "spec/catalogue.hpp"
#include "spec/load.hpp"
#include "spec/scenario.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim::cli {

/// Data directories in order of precedence; `scenario` is the file whose folder comes first, if
/// any. The last is what was installed with this program, or the source tree it was built from.
[[nodiscard]] std::vector<std::string> roots_of(const Options& options,
                                                const std::string& scenario = {});

/// The catalogue in those directories, with --calibration laid over it. Prints what is wrong with
/// that file and throws Failure.
[[nodiscard]] Catalogue open_catalogue(const Options& options, const std::string& scenario = {});

struct ConfigEntry {
  std::string id; // "dgx_h100"
  std::string path;
};
/// configs/*.toml of every root, by id; an earlier root hides a later one.
[[nodiscard]] std::vector<ConfigEntry> configs(const std::vector<std::string>& roots);

/// The id that a new file of that name gives to what it holds: kebab-case, which not every file
/// name is.
[[nodiscard]] std::string id_from(const std::string& path);

/// The file that `name` means: itself, or a config of that name. Throws Failure with the nearest
/// name.
[[nodiscard]] std::string config_path(const Options& options, const std::string& name);

/// --set, and what reads a model's config.json.
[[nodiscard]] LoadOptions load_options(const Options& options);

/// Loads with all overrides; prints diagnostics. Nothing on error; `code` is then what to exit
/// with.
[[nodiscard]] std::optional<Scenario> load(const Options& options, const std::string& path,
                                           ExitCode& code);

/// --threads; 0 = as many as the machine offers. Throws Failure.
[[nodiscard]] int thread_count(const Options& options);

/// Diagnostics to standard error, in colour where it shows.
void print(const Options& options, const Diagnostics& diagnostics);

} // namespace clustersim::cli
