#include "analysis/serving.hpp"
#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "pipeline.hpp"
#include "report/operator_rooflines.hpp"
#include "report/roofline.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

/// A scenario, as against a chip's name.
bool is_config(const Options& options) {
  if (!options.chips.empty() || options.arguments.size() != 1) return false;
  const std::string& name = options.arguments.front();
  if (name.ends_with(".toml")) return true;
  const auto known = configs(roots_of(options));
  return std::any_of(known.begin(), known.end(),
                     [&](const ConfigEntry& one) { return one.id == name; });
}

std::string operators_text(const Scenario& scenario, const std::vector<NamedTimeline>& timelines,
                           TextStyle style) {
  std::string out;
  for (const NamedTimeline& one : timelines) {
    out +=
        operator_roofline_section(fmt::format("{}, {}", printable(scenario.chip().name), one.name),
                                  scenario.chip(), *one.timeline, style);
  }
  return out.substr(out.find_first_not_of('\n'));
}

ExitCode operators_of_config(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  ExitCode code = ExitCode::done;
  const auto scenario = load(options, config_path(options, options.arguments.front()), code);
  if (!scenario) return code;
  const auto show = [&](const std::vector<NamedTimeline>& timelines) {
    deliver(options, format == Format::json
                         ? render_operators_json(scenario->chip(), timelines, CLUSTERSIM_VERSION)
                     : format == Format::csv
                         ? render_operators_csv(scenario->chip(), timelines)
                         : operators_text(*scenario, timelines, output_style(options)));
    return ExitCode::done;
  };
  if (scenario->serves()) {
    const ServingAnswer result = serve(*scenario);
    return show({{"prefill", &result.prefill.timeline}, {"decode step", &result.decode.timeline}});
  }
  const Answer result = answer(*scenario);
  return show({{"training step", &result.timeline}});
}

} // namespace

ExitCode roofline_verb(const Options& options) {
  if (is_config(options)) return operators_of_config(options);
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  std::vector<std::string> names = options.chips;
  names.insert(names.end(), options.arguments.begin(), options.arguments.end());
  if (names.empty()) {
    throw misuse("'roofline' needs a chip", "try: clustersim roofline --chip h100");
  }
  if (names.size() > most_rooflines) {
    throw misuse(fmt::format("a plot holds {} chips, not {}", most_rooflines, names.size()));
  }
  const auto precision = precision_option(options);
  const Catalogue catalogue = open_catalogue(options, "./");
  Diagnostics diagnostics;
  std::vector<Roofline> chips;
  for (const std::string& name : names) {
    if (const auto chip = load_chip(catalogue, name, diagnostics)) {
      chips.push_back(roofline_of(*chip, precision));
      if (chips.back().compute.empty()) {
        throw misuse(chip->unpublished
                         ? chip->name + " has no roof: its maker publishes no rate"
                         : fmt::format("{} has no {} path", chip->name, options.precision));
      }
    }
  }
  print(options, diagnostics);
  if (diagnostics.has_errors()) {
    return diagnostics.exit_code();
  }
  deliver(options, format == Format::json  ? render_roofline_json(chips, CLUSTERSIM_VERSION)
                   : format == Format::csv ? render_roofline_csv(chips)
                                           : render_roofline_text(chips, output_style(options)));
  return ExitCode::done;
}

} // namespace clustersim::cli
