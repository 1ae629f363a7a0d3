#include "base/text.hpp"
#include "cli/failure.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

namespace clustersim::cli {

ExitCode help_verb(const Options& options) {
  const TextStyle style = output_style(options);
  const bool asks_about_help = options.verb == "help" || options.verb.empty();
  if (asks_about_help && options.arguments.empty()) {
    deliver({}, overview(style));
    return ExitCode::done;
  }
  const std::string& name = asks_about_help ? options.arguments.front() : options.verb;
  const Verb* verb = find_verb(name);
  if (verb == nullptr) {
    std::vector<std::string> known;
    for (const Verb& one : verbs()) {
      known.emplace_back(one.name);
    }
    const auto near = nearest_name(name, known);
    throw misuse(fmt::format("no verb '{}'", printable(name)),
                 near ? fmt::format("did you mean \"{}\"?", *near) : "see clustersim help");
  }
  deliver({}, help_for(*verb, style));
  return ExitCode::done;
}

ExitCode version_verb(const Options&) {
  deliver({}, fmt::format("clustersim {}\n", CLUSTERSIM_VERSION));
  return ExitCode::done;
}

} // namespace clustersim::cli
