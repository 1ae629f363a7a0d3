#include "cli/failure.hpp"
#include "cli/help.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/fields.hpp"
#include "spec/reference.hpp"

#include <array>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

struct Page {
  std::string_view name;
  std::string (*text)();
};

const std::array pages{
    Page{"cli", reference_cli},
    Page{"exit-codes", reference_exit_codes},
    Page{"report", reference_report},
    Page{"inference", reference_inference},
    Page{"input", schema_reference_markdown},
};

} // namespace

ExitCode reference_verb(const Options& options) {
  const std::string wanted = options.arguments.empty() ? "" : options.arguments.front();
  std::string all;
  for (const Page& page : pages) {
    if (page.name == wanted) {
      deliver(options, page.text());
      return ExitCode::done;
    }
    all += fmt::format("{}{}", all.empty() ? "" : ", ", page.name);
  }
  throw misuse("'reference' needs a page", "one of " + all);
}

} // namespace clustersim::cli
