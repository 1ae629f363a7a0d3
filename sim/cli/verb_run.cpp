#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/limits.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "pipeline.hpp"
#include "report/answer.hpp"
#include "report/serving.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

ExitCode serve_scenario(const Options& options, Format format, const Scenario& scenario) {
  if (!options.fail_on.empty()) {
    throw misuse("--fail-on has no limits for a scenario that serves",
                 "leave it out, and read the report's JSON");
  }
  const ServingAnswer result = serve(scenario);
  deliver(options, format == Format::json ? render_serving_json(result, CLUSTERSIM_VERSION)
                                          : render_serving_text(result, output_style(options)));
  return result.memory.fits() ? ExitCode::done : ExitCode::does_not_fit;
}

} // namespace

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
  if (scenario->serves()) return serve_scenario(options, format, *scenario);
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
