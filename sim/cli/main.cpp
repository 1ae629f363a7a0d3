// Parses, finds the verb, runs it, turns what went wrong into an exit code
// (docs/reference/exit-codes.md).

#include "base/bug.hpp"
#include "base/text.hpp"
#include "cli/failure.hpp"
#include "cli/output.hpp"
#include "cli/parser.hpp"
#include "cli/verbs.hpp"

#include <csignal>
#include <exception>
#include <new>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

ExitCode dispatch(const Options& options) {
  if (options.version) {
    return version_verb(options);
  }
  if (options.help || options.verb.empty()) {
    return help_verb(options);
  }
  return find_verb(options.verb)->run(options);
}

void report_failure(const Failure& failure) {
  const std::string hint = failure.hint().empty() ? "" : fmt::format("  {}\n", failure.hint());
  say(fmt::format("clustersim: error: {}\n{}", failure.what(), hint));
}

ExitCode report_bug(const char* what) {
  say(fmt::format("clustersim: internal error: {}\n"
                  "  This is a bug in clustersim {}, not in your input. Please report it with the\n"
                  "  command line and the scenario file.\n",
                  printable(what), CLUSTERSIM_VERSION));
  return ExitCode::our_bug;
}

ExitCode guarded(int argc, const char* const* argv) {
  try {
    return dispatch(parse(argc, argv));
  } catch (const Failure& failure) {
    report_failure(failure);
    return failure.code();
  } catch (const std::bad_alloc&) {
    return report_bug("out of memory");
  } catch (const std::exception& error) {
    return report_bug(error.what());
  }
}

} // namespace
} // namespace clustersim::cli

int main(int argc, char** argv) {
  // A closed pipe is noticed where we write, and ends the program quietly.
  std::signal(SIGPIPE, SIG_IGN);
  return static_cast<int>(clustersim::cli::guarded(argc, argv));
}
