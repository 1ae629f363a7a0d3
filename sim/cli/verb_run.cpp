#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/limits.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "pipeline.hpp"
#include "report/answer.hpp"

#include <fmt/format.h>

namespace clustersim::cli {

ExitCode run_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json});
  if (options.arguments.empty()) {
    throw misuse("'run' needs a scenario", "try: clustersim run dgx_h100; clustersim list configs "
                                           "shows more");
  }
  check_run_limits(options.fail_on);
  ExitCode code = ExitCode::done;
  const auto scenario = load(options, config_path(options, options.arguments.front()), code);
  if (!scenario) {
    return code;
  }
  const Answer result = answer(*scenario);
  const std::vector<std::string> complaints = exceeded(options.fail_on, result);
  deliver(options, format == Format::json ? render_json(result, CLUSTERSIM_VERSION)
                                          : render_text(result, output_style(options)));
  for (const std::string& complaint : complaints) {
    say(fmt::format("clustersim: {}\n", complaint));
  }
  if (!result.memory.fits()) {
    return ExitCode::does_not_fit;
  }
  return complaints.empty() ? ExitCode::done : ExitCode::check_failed;
}

} // namespace clustersim::cli
