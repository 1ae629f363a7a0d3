#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "foreign/huggingface.hpp"
#include "report/imported.hpp"
#include "spec/text_file.hpp"

#include <fmt/format.h>

namespace clustersim::cli {
ExitCode import_verb(const Options& options) {
  if (options.arguments.size() != 2 || options.arguments.front() != "hf") {
    throw misuse("'import' needs a format and a file", "try: clustersim import hf config.json");
  }
  const std::string& path = options.arguments.back();
  const bool writes = options.output.ends_with(".toml");
  const bool shows = options.output.ends_with(".json") || options.output.ends_with(".txt");
  if (!options.output.empty() && !writes && !shows) {
    throw misuse("an imported model is a TOML file, and '" + options.output + "' is none",
                 "end the name with .toml; .json or .txt takes the counts alone");
  }
  Diagnostics out;
  const auto text = read_text_file(path, out);
  const auto model =
      text ? import_huggingface(*text, path, id_from(writes ? options.output : path), out)
           : std::nullopt;
  print(options, out);
  if (!model) {
    return out.exit_code();
  }
  const ImportSummary summary{model->count, writes ? "" : model->toml, model->inferred,
                              model->defaulted, model->ignored};
  if (!writes) {
    const Format format = chosen_format(options, {Format::text, Format::json});
    deliver(options, format == Format::json ? render_import_json(summary, CLUSTERSIM_VERSION)
                                            : render_import_text(summary));
    return ExitCode::done;
  }
  write_file(options.output, model->toml, true);
  Options rest = options;
  rest.output.clear();
  deliver(rest, options.json ? render_import_json(summary, CLUSTERSIM_VERSION)
                             : render_import_text(summary));
  return ExitCode::done;
}

} // namespace clustersim::cli
