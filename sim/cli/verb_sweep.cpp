#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "foreign/json_rows.hpp"
#include "report/sweep.hpp"
#include "spec/text_file.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

Sweep planned(const Options& options) {
  if (options.sweep.vary.empty()) {
    throw misuse("'sweep' needs a key to vary", "such as --vary tensor=1,2,4,8");
  }
  std::vector<SweepAxis> axes;
  RangeError error;
  for (const std::string& text : options.sweep.vary) {
    auto axis = parse_sweep_axis(text, error);
    if (!axis) {
      throw misuse(fmt::format("--vary cannot be '{}': {}", printable(text), error.message),
                   error.expected);
    }
    axes.push_back(std::move(*axis));
  }
  auto sweep = plan_sweep(axes, error);
  if (!sweep) throw misuse(fmt::format("--vary: {}", error.message), error.expected);
  return std::move(*sweep);
}

std::size_t metric_of(const Options& options) {
  if (options.sweep.metric.empty()) return 0;
  std::vector<std::string> names;
  for (const SweepMetric& metric : sweep_metrics)
    names.emplace_back(metric.name);
  const std::string name = one_of("--metric", options.sweep.metric, names);
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

[[noreturn]] void give_up(const Options& options, const Diagnostics& diagnostics) {
  print(options, diagnostics);
  throw Failure(diagnostics.exit_code(), "the sweep was not run", "");
}

/// Points of an output file that exists.
void resume(const Options& options, Format format, Sweep& sweep) {
  const std::string& path = options.output;
  std::error_code ignored;
  if (path.empty() || format == Format::text || !std::filesystem::is_regular_file(path, ignored)) {
    return;
  }
  Diagnostics diagnostics;
  const auto text = read_text_file(path, diagnostics);
  std::optional<CsvTable> saved;
  if (text && trim(*text).empty()) return;
  if (text) {
    saved = format == Format::json ? json_rows(*text, path, "points", diagnostics)
                                   : parse_csv(*text, path, diagnostics);
  }
  const bool none = saved && saved->header.empty();
  if (!saved || (!none && !take_over(sweep, *saved, diagnostics))) give_up(options, diagnostics);
}

ExitCode code_of(const Sweep& sweep) {
  const auto any = [&](PointStatus status) {
    return std::any_of(sweep.points.begin(), sweep.points.end(),
                       [&](const SweepPoint& point) { return point.status == status; });
  };
  if (any(PointStatus::ok)) return ExitCode::done;
  return any(PointStatus::oom) ? ExitCode::does_not_fit : ExitCode::bad_input;
}

} // namespace

ExitCode sweep_verb(const Options& options) {
  if (options.arguments.empty()) {
    throw misuse("'sweep' needs a scenario",
                 "try: clustersim sweep llama3_8b_dgx_h100 --vary seq=2k..64k:x2");
  }
  Sweep sweep = planned(options);
  const std::size_t metric = metric_of(options);
  const bool picture = options.output.ends_with(".svg");
  if (picture && sweep.axes.size() > 2) {
    throw misuse("a picture shows one varied key or two", "write .csv or .json instead");
  }
  const Format format =
      picture ? Format::text : chosen_format(options, {Format::text, Format::json, Format::csv});
  resume(options, format, sweep);

  SweepQuestion question;
  question.path = config_path(options, options.arguments.front());
  const Catalogue catalogue = open_catalogue(options, question.path);
  question.catalogue = &catalogue;
  question.loading = load_options(options);
  question.axes = sweep.axes;
  question.version = CLUSTERSIM_VERSION;
  question.threads = thread_count(options);
  const Interrupt interrupt;
  question.stop = [&] { return interrupt.asked(); };
  Diagnostics diagnostics;
  if (!complete(sweep, question, diagnostics)) give_up(options, diagnostics);

  if (sweep.reused > 0) {
    note(options,
         fmt::format("{} points taken over from {}\n", sweep.reused, printable(options.output)));
  }
  deliver(options, picture                  ? render_sweep_svg(sweep, metric)
                   : format == Format::json ? render_sweep_json(sweep, CLUSTERSIM_VERSION)
                   : format == Format::csv
                       ? render_sweep_csv(sweep)
                       : render_sweep_text(sweep, metric, output_style(options)));
  return sweep.interrupted ? interrupt.exit_code() : code_of(sweep);
}

} // namespace clustersim::cli
