#include "base/range.hpp"
#include "base/text.hpp"
#include "cli/failure.hpp"
#include "cli/machine.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/topology.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

TopologyQuestion question_from(const Options& options) {
  TopologyQuestion question;
  if (options.collective.empty()) {
    if (!options.size.empty() || !options.ranks.empty() || !options.algorithm.empty()) {
      throw misuse("--size, --ranks and --algorithm say more about a collective",
                   "try: --collective all_reduce");
    }
    return question;
  }
  question.collective = collective_from(options.collective);
  question.algorithm = algorithm_from(options.algorithm);
  question.ranks = count_from("--ranks", options.ranks, 0);
  RangeError error;
  const auto sizes =
      parse_quantity_range<Bytes>(options.size.empty() ? "1GiB" : options.size, error);
  if (!sizes) throw misuse("--size: " + error.message, "expected " + error.expected);
  if (sizes->size() != 1) throw misuse("--size takes one size", "such as 1GiB");
  question.size = sizes->front();
  return question;
}

std::string rendered(Format format, const TopologyAnswer& answer, const Options& options) {
  switch (format) {
  case Format::json:
    return render_topology_json(answer, CLUSTERSIM_VERSION);
  case Format::csv:
    return render_topology_csv(answer);
  case Format::text:
    break;
  }
  return render_topology_text(answer, output_style(options));
}

} // namespace

ExitCode topology_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  if (options.arguments.empty()) {
    throw misuse("'topology' needs a machine", "try: clustersim topology dgx_h100");
  }
  const TopologyQuestion question = question_from(options);
  ExitCode code = ExitCode::done;
  const auto machine = machine_from(options, options.arguments.front(), code);
  if (!machine) return code;
  std::string why;
  const auto answer = answer_topology(*machine, question, why);
  if (!answer) throw misuse(why);
  if (!options.svg.empty()) write_file(options.svg, render_topology_svg(*answer), true);
  if (!options.dot.empty()) write_file(options.dot, render_topology_dot(*answer), true);
  deliver(options, rendered(format, *answer, options));
  return ExitCode::done;
}

} // namespace clustersim::cli
