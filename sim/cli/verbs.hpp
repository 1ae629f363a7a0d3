#pragma once
// The table of verbs: parser, help, reference and suggestions all read it. A verb is one file and
// one line in verbs().

#include "base/diagnostic.hpp"
#include "cli/options.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace clustersim::cli {

struct Verb {
  std::string_view name;
  std::string_view arguments; // as in a usage line: "CONFIG", "[FILE]"
  std::string_view summary;   // one line
  std::string_view details;   // paragraphs for its help
  std::vector<std::string_view> examples;
  std::vector<std::string_view> options; // beside the global ones
  std::size_t most_arguments = 0;
  ExitCode (*run)(const Options&) = nullptr;
  bool hidden = false;
};

[[nodiscard]] const std::vector<Verb>& verbs();
/// Null where there is none of that name.
[[nodiscard]] const Verb* find_verb(std::string_view name);

ExitCode run_verb(const Options& options);
ExitCode compare_verb(const Options& options);
ExitCode search_verb(const Options& options);
ExitCode check_verb(const Options& options);
ExitCode list_verb(const Options& options);
ExitCode show_verb(const Options& options);
ExitCode import_verb(const Options& options);
ExitCode init_verb(const Options& options);
ExitCode roofline_verb(const Options& options);
ExitCode kernel_verb(const Options& options);
ExitCode collective_verb(const Options& options);
ExitCode topology_verb(const Options& options);
ExitCode validate_verb(const Options& options);
ExitCode calibrate_verb(const Options& options);
ExitCode version_verb(const Options& options);
ExitCode help_verb(const Options& options);
ExitCode reference_verb(const Options& options);

} // namespace clustersim::cli
