#include "base/range.hpp"
#include "cli/failure.hpp"
#include "cli/machine.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/collective.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

std::vector<Bytes> sizes_from(const std::string& text) {
  RangeError error;
  const auto sizes = parse_quantity_range<Bytes>(text.empty() ? "8B..8GiB" : text, error);
  if (!sizes) throw misuse("--sizes: " + error.message, "expected " + error.expected);
  return *sizes;
}

} // namespace

ExitCode collective_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  if (options.arguments.empty() || options.topology.empty()) {
    throw misuse("'collective' needs a collective and a machine",
                 "try: clustersim collective all_reduce --topology dgx-h100");
  }
  CollectiveQuestion question;
  question.kind = collective_from(options.arguments.front());
  question.algorithm = algorithm_from(options.algorithm);
  question.sizes = sizes_from(options.sizes);
  question.ranks = count_from("--ranks", options.ranks, 0);
  question.concurrent = count_from("--concurrent", options.concurrent, 1);
  ExitCode code = ExitCode::done;
  const auto machine = machine_from(options, options.topology, code);
  if (!machine) return code;
  std::string why;
  auto sweep = sweep_collective(machine->cluster, question, why);
  if (!sweep) throw misuse(why);
  sweep->assumptions.insert(sweep->assumptions.begin(), machine->assumptions.begin(),
                            machine->assumptions.end());
  deliver(options, format == Format::json  ? render_collective_json(*sweep, CLUSTERSIM_VERSION)
                   : format == Format::csv ? render_collective_csv(*sweep)
                                           : render_collective_text(*sweep, output_style(options)));
  return ExitCode::done;
}

} // namespace clustersim::cli
