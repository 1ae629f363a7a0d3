#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/limits.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/validation.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
ExitCode validate_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  if (options.arguments.empty()) {
    throw misuse("'validate' needs a file of measurements",
                 "try: clustersim validate training_runs.csv");
  }
  check_validate_limits(options.fail_on);
  const int threads = thread_count(options);
  const Catalogue catalogue = open_catalogue(options);
  Diagnostics diagnostics;
  const ValidationReport report = validate(options.arguments, catalogue, {threads}, diagnostics);
  print(options, diagnostics);
  if (report.files.empty()) {
    return diagnostics.exit_code();
  }
  const std::vector<std::string> complaints = exceeded(options.fail_on, report);
  deliver(options, format == Format::json  ? render_validate_json(report, CLUSTERSIM_VERSION)
                   : format == Format::csv ? render_validate_csv(report)
                                           : render_validate_text(report, output_style(options)));
  for (const std::string& complaint : complaints) {
    say(fmt::format("clustersim: {}\n", complaint));
  }
  if (diagnostics.has_errors()) {
    return diagnostics.exit_code();
  }
  return complaints.empty() ? ExitCode::done : ExitCode::check_failed;
}

} // namespace clustersim::cli
