#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/templates.hpp"
#include "cli/verbs.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace clustersim::cli {
ExitCode init_verb(const Options& options) {
  std::vector<std::string> words = options.arguments;
  const Template* wanted = words.empty() ? nullptr : find_template(words.front());
  if (wanted != nullptr) {
    words.erase(words.begin());
  } else {
    wanted = find_template("scenario");
  }
  if (words.size() > 1) {
    throw misuse(fmt::format("no template '{}'", printable(words.front())),
                 "expected scenario, chip or node");
  }
  const std::filesystem::path path =
      words.empty() ? std::filesystem::path{wanted->place} : std::filesystem::path{words.front()};
  if (path.extension() != ".toml") {
    throw misuse(
        fmt::format("'{}' does not end in .toml", printable(path.string())),
        fmt::format("try: clustersim init {} {}.toml", wanted->kind, printable(path.string())));
  }
  if (words.empty() && path.has_parent_path()) {
    std::error_code error; // a failure shows when the file is written
    std::filesystem::create_directories(path.parent_path(), error);
  }
  write_file(path.string(), filled(*wanted, id_from(path.string())), false);
  note(options, fmt::format("wrote {}\n", printable(path.string())));
  return ExitCode::done;
}

} // namespace clustersim::cli
