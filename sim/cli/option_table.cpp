#include "cli/option_table.hpp"

#include "base/bug.hpp"

#include <algorithm>

namespace clustersim::cli {

const std::vector<OptionSpec>& option_table() {
  static const std::vector<OptionSpec> table{
      {"--set", "KEY=VALUE", "override a key of the scenario; repeatable, the later wins", false,
       &Options::settings},
      {"--calibration", "FILE",
       "lay the fitted constants of FILE over the catalogue; repeatable, the later wins", false,
       &Options::calibrations},
      {"--fit", "KEY", "fit this constant, and no other that is not named; repeatable", false,
       &Options::fit},
      {"--hold", "KEY", "leave this constant, or all of this table, as it is; repeatable", false,
       &Options::hold},
      {"--prior", "SHARE", "hold each constant to its value before, within about this share", false,
       &Options::prior},
      {"--date", "DATE", "a date to note in the calibration file", false, &Options::date},
      {"--fail-on", "LIMIT", "end with 1 when a result is worse than the limit; repeatable", false,
       &Options::fail_on},
      {"--chip", "NAME", "a chip; more names may follow", false, &Options::chips},
      {"--precision", "NAME", "only this number format: fp64, fp32, tf32, fp16, bf16, fp8, …",
       false, &Options::precision},
      {"--csv", "", "print CSV", false, &Options::csv},
      {"--json", "", "print JSON", false, &Options::json},
      {"--threads", "N", "use at most N threads; the answer stays the same", false,
       &Options::threads},
      {"-o,--output", "FILE", "write to FILE; its ending (.txt, .json, .csv) sets the format",
       false, &Options::output},
      {"--data", "DIR", "look for models, topologies and configs here first", true, &Options::data},
      {"--color", "WHEN", "always, never or auto (a terminal, and NO_COLOR not set)", true,
       &Options::colour},
      {"-q,--quiet", "", "say less: the first screen, no notes on standard error", true,
       &Options::quiet},
      {"-v,--verbose", "", "say more: every operator, every value with its source", true,
       &Options::verbose},
      {"-h,--help", "", "help for a verb", true, &Options::help},
      {"--version", "", "print the version", true, &Options::version},
  };
  return table;
}

const OptionSpec& option(std::string_view name) {
  const auto& table = option_table();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const OptionSpec& spec) { return spec.name() == name; });
  if (found == table.end()) {
    throw Bug("a verb names an option that is not in the table: " + std::string{name});
  }
  return *found;
}

} // namespace clustersim::cli
