#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/limits.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "pipeline.hpp"
#include "report/answer.hpp"
#include "report/serving.hpp"
#include "report/trace.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

ExitCode serve_scenario(const Options& options, Format format, const Scenario& scenario) {
  if (!options.fail_on.empty()) {
    throw misuse("--fail-on has no limits for a scenario that serves",
                 "leave it out, and read the report's JSON");
  }
  if (!options.engine.empty() || options.compare_engines || !options.trace.empty()) {
    throw misuse("a model that serves is timed by the analytic engine only",
                 "leave out --engine, --compare-engines and --trace");
  }
  const ServingAnswer result = serve(scenario);
  deliver(options, format == Format::json ? render_serving_json(result, CLUSTERSIM_VERSION)
                                          : render_serving_text(result, output_style(options)));
  return result.memory.fits() ? ExitCode::done : ExitCode::does_not_fit;
}

} // namespace

namespace {

RunOptions run_options(const Options& options) {
  constexpr std::size_t most_spans = 200'000; // about 30 MB of text
  RunOptions out;
  const bool traced = !options.trace.empty();
  if (options.engine == "event" || (options.engine.empty() && traced)) {
    out.engine = Engine::event;
  } else if (!options.engine.empty() && options.engine != "analytic") {
    throw misuse(fmt::format("--engine cannot be '{}'", printable(options.engine)),
                 "expected analytic or event");
  }
  if (traced && out.engine == Engine::analytic) {
    throw misuse("the analytic engine has no timeline to trace",
                 "try: --engine event --trace FILE");
  }
  out.compare_engines = options.compare_engines;
  out.spans = traced ? most_spans : 0;
  return out;
}

void refuse_unlike_partitions(const Scenario& scenario, const RunOptions& how) {
  const bool wants_event = how.engine == Engine::event || how.compare_engines;
  if (wants_event && scenario.cluster.partitions.size() > 1) {
    throw misuse("unlike partitions together are timed by the analytic engine only",
                 "leave out --engine, --compare-engines and --trace");
  }
}

void write_trace(const Options& options, const Answer& result) {
  if (options.trace.empty()) return;
  write_file(options.trace, render_trace(result), true);
  const Recorder& record = result.event->record;
  const std::int64_t all = result.program.pipeline ? result.program.pipeline->micro_batches : 0;
  std::string what = record.full ? ", the beginning of the step" : "";
  if (record.micro_batches < all)
    what += fmt::format(", with {} of {} micro-batches", record.micro_batches, all);
  note(options, fmt::format("wrote {}{}\n", printable(options.trace), what));
}

} // namespace

ExitCode run_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json});
  if (options.arguments.empty()) {
    throw misuse("'run' needs a scenario", "try: clustersim run dgx_h100; clustersim list configs "
                                           "shows more");
  }
  check_run_limits(options.fail_on);
  const RunOptions how = run_options(options);
  ExitCode code = ExitCode::done;
  const auto scenario = load(options, config_path(options, options.arguments.front()), code);
  if (!scenario) {
    return code;
  }
  if (scenario->serves()) return serve_scenario(options, format, *scenario);
  refuse_unlike_partitions(*scenario, how);
  const Answer result = answer(*scenario, how);
  const std::vector<std::string> complaints = exceeded(options.fail_on, result);
  deliver(options, format == Format::json ? render_json(result, CLUSTERSIM_VERSION)
                                          : render_text(result, output_style(options)));
  write_trace(options, result);
  for (const std::string& complaint : complaints) {
    say(fmt::format("clustersim: {}\n", complaint));
  }
  if (!result.memory.fits()) {
    return ExitCode::does_not_fit;
  }
  return complaints.empty() ? ExitCode::done : ExitCode::check_failed;
}

} // namespace clustersim::cli
