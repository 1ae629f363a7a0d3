#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "report/roofline.hpp"

#include <fmt/format.h>

namespace clustersim::cli {

ExitCode roofline_verb(const Options& options) {
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
