#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "foreign/huggingface.hpp"
#include "foreign/imported_scenario.hpp"
#include "report/imported.hpp"
#include "spec/load.hpp"
#include "spec/text_file.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

bool writes(const Options& options) {
  return options.output.ends_with(".toml");
}

void check_output(const Options& options) {
  const bool shows = options.output.ends_with(".json") || options.output.ends_with(".txt");
  if (options.output.empty() || writes(options) || shows) return;
  throw misuse("what is imported becomes a TOML file, and '" + options.output + "' is none",
               "end the name with .toml; .json or .txt takes the counts alone");
}

/// A .toml is written as a file of ours, and the counts go to standard output.
ExitCode hand_over(const Options& options, const std::string& toml, ImportSummary summary) {
  if (!writes(options)) {
    summary.toml = toml;
    const Format format = chosen_format(options, {Format::text, Format::json});
    deliver(options, format == Format::json ? render_import_json(summary, CLUSTERSIM_VERSION)
                                            : render_import_text(summary));
    return ExitCode::done;
  }
  write_file(options.output, toml, true);
  Options rest = options;
  rest.output.clear();
  deliver(rest, options.json ? render_import_json(summary, CLUSTERSIM_VERSION)
                             : render_import_text(summary));
  return ExitCode::done;
}

ExitCode import_model(const Options& options, const ForeignFile& file) {
  Diagnostics out;
  const auto model = import_huggingface(file.text, file.path,
                                        id_from(writes(options) ? options.output : file.path), out);
  print(options, out);
  if (!model) return out.exit_code();
  return hand_over(options, model->toml,
                   {model->count, "", model->inferred, model->defaulted, model->ignored});
}

/// The config is loaded as any other, so that its mistakes come out now and not at the first run.
ExitCode hand_over_scenario(const Options& options, const Catalogue& catalogue,
                            const ImportedScenario& scenario, const std::string& path,
                            Diagnostics& out) {
  const auto loaded = parse_scenario(scenario.toml, path + " (as a config)", catalogue, {}, out);
  print(options, out);
  if (!loaded) return out.exit_code();
  return hand_over(options, scenario.toml,
                   {count_parameters(loaded->model), "", scenario.inferred, scenario.defaulted,
                    scenario.ignored});
}

ExitCode import_scenario(const Options& options, const std::vector<ForeignFile>& files,
                         bool calculon) {
  const Catalogue catalogue = open_catalogue(options);
  Diagnostics out;
  const auto scenario =
      calculon ? import_calculon(files, catalogue, out) : import_megatron(files.front(), out);
  if (!scenario) {
    print(options, out);
    return out.exit_code();
  }
  return hand_over_scenario(options, catalogue, *scenario, files.front().path, out);
}

} // namespace

ExitCode import_verb(const Options& options) {
  const std::string format = options.arguments.empty() ? "" : options.arguments.front();
  const std::size_t wanted = format == "calculon" ? 3 : 1;
  const bool known = format == "hf" || format == "megatron" || format == "calculon";
  if (!known || options.arguments.size() != 1 + wanted) {
    throw misuse(known ? fmt::format("'import {}' takes {}", format,
                                     wanted == 1 ? "one file" : "three files")
                       : "'import' needs a format and a file",
                 "try: clustersim import hf config.json");
  }
  check_output(options);
  std::vector<ForeignFile> files;
  for (std::size_t i = 1; i < options.arguments.size(); ++i) {
    Diagnostics out;
    auto text = read_text_file(options.arguments[i], out);
    print(options, out);
    if (!text) return out.exit_code();
    files.push_back({options.arguments[i], std::move(*text)});
  }
  if (format == "hf") return import_model(options, files.front());
  return import_scenario(options, files, format == "calculon");
}

} // namespace clustersim::cli
