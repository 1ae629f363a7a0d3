#pragma once
// --fail-on: results turned into an exit code for scripts.
//
//   run:       step_time=7.5s  peak_memory=70GiB  mfu=40%  tokens_per_s=500000     (absolute;
//              memory with the framework's share, as the first screen shows it)
//   compare:   step_time=+5%  worse than the first scenario by that much
//   validate:  step_time=10%   the mean absolute percentage error of that quantity

#include <string>
#include <string_view>
#include <vector>

namespace clustersim {
struct Answer;
struct ValidationReport;
} // namespace clustersim

namespace clustersim::cli {

struct Limit {
  std::string key;
  std::string value; // as given
};

/// Splits KEY=VALUE and checks the key against `known`. Throws Failure.
[[nodiscard]] Limit parse_limit(const std::string& text, const std::vector<std::string>& known);

/// "5%", "+5 %": 0.05. Throws Failure.
[[nodiscard]] double share_from(const Limit& limit);

/// Whether every limit names a result and a value of its kind. Throws Failure; for before the run.
void check_run_limits(const std::vector<std::string>& limits);
void check_validate_limits(const std::vector<std::string>& limits);

/// One sentence per limit that is exceeded; empty = all met. Throws Failure on a malformed limit.
[[nodiscard]] std::vector<std::string> exceeded(const std::vector<std::string>& limits,
                                                const Answer& answer);
[[nodiscard]] std::vector<std::string> exceeded(const std::vector<std::string>& limits,
                                                const ValidationReport& report);

} // namespace clustersim::cli
