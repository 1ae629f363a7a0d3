#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/calibration.hpp"

#include <charconv>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

/// "10%", "10 %" → 0.1; 0 when not given.
double prior_of(const Options& options) {
  if (options.prior.empty()) {
    return 0;
  }
  std::string text = trim(options.prior);
  const bool percents = text.ends_with('%');
  if (percents) {
    text.pop_back();
  }
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  if (!percents || !number || !(value >= 0.01 && value <= 1000)) {
    throw misuse(fmt::format("--prior cannot be '{}'", printable(options.prior)),
                 "expected a percentage from 0.01% to 1000%, such as 10%");
  }
  return value / 100.0;
}

/// Keys one by one: an option may list several with commas.
std::vector<std::string> keys_of(const std::vector<std::string>& options) {
  std::vector<std::string> keys;
  for (const std::string& option : options) {
    for (const std::string& key : split(option, ',')) {
      keys.push_back(trim(key));
    }
  }
  return keys;
}

void check_command(const Options& options) {
  if (options.arguments.empty() || options.chips.empty()) {
    throw misuse(options.arguments.empty() ? "'calibrate' needs a file of measurements"
                                           : "'calibrate' needs a chip",
                 "try: clustersim calibrate gemm.csv --chip h100 -o h100.toml");
  }
  if (options.chips.size() > 1) {
    throw misuse("'calibrate' takes one chip at a time");
  }
  if (!options.output.empty() && !options.output.ends_with(".toml")) {
    throw misuse(fmt::format("'{}' does not end in .toml", printable(options.output)),
                 "-o names the calibration file; --json prints the report as JSON");
  }
  constexpr std::size_t longest_date = 64;
  if (options.date.size() > longest_date || printable(options.date) != options.date) {
    throw misuse("--date is not a date");
  }
}

std::string report_of(const Options& options, const CalibrationFit& fit) {
  Options to_screen = options;
  to_screen.output.clear(); // which is the overlay's
  const Format format = chosen_format(to_screen, {Format::text, Format::json});
  return format == Format::json ? render_calibration_json(fit, CLUSTERSIM_VERSION)
                                : render_calibration_text(fit, output_style(to_screen));
}

} // namespace

ExitCode calibrate_verb(const Options& options) {
  check_command(options);
  CalibrateOptions wanted;
  wanted.chip = options.chips.front();
  wanted.fit = keys_of(options.fit);
  wanted.hold = keys_of(options.hold);
  wanted.prior = prior_of(options);
  wanted.threads = thread_count(options);
  const Catalogue catalogue = open_catalogue(options, "./");
  Diagnostics diagnostics;
  const auto fit = calibrate(options.arguments, catalogue, wanted, diagnostics);
  print(options, diagnostics);
  if (!fit) {
    return diagnostics.exit_code();
  }
  if (!fit->refused() && !options.output.empty()) {
    write_file(options.output, render_overlay(*fit, CLUSTERSIM_VERSION, options.date), true);
    note(options, fmt::format("wrote {}\n", printable(options.output)));
  }
  Options to_screen = options;
  to_screen.output.clear();
  deliver(to_screen, report_of(options, *fit));
  if (fit->refused()) {
    say(fmt::format("clustersim: under-determined: these rows fit nothing of {}{}\n", fit->chip,
                    options.output.empty()
                        ? ""
                        : fmt::format("; {} is not written", printable(options.output))));
    return ExitCode::check_failed;
  }
  return ExitCode::done;
}

} // namespace clustersim::cli
