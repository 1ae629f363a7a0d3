#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/limits.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "report/comparison.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace clustersim::cli {
namespace {

/// What --fail-on calls a result of the comparison.
struct LimitedResult {
  std::string_view limit, outcome;
};
constexpr std::array limited{
    LimitedResult{"step_time", "step_time_s"}, LimitedResult{"tokens_per_s", "tokens_per_s"},
    LimitedResult{"mfu", "mfu"}, LimitedResult{"peak_memory", "used_bytes"},
    LimitedResult{"energy", "energy_per_token_j"}};

struct AllowedChange {
  std::string key, outcome;
  double share = 0.0; // how much worse is allowed
  std::string text;   // as given
};

std::vector<AllowedChange> allowed_changes(const std::vector<std::string>& limits) {
  std::vector<std::string> known;
  for (const LimitedResult& result : limited) {
    known.emplace_back(result.limit);
  }
  std::vector<AllowedChange> out;
  for (const std::string& text : limits) {
    const Limit limit = parse_limit(text, known);
    const auto result = std::find_if(limited.begin(), limited.end(), [&](const LimitedResult& one) {
      return one.limit == limit.key;
    });
    out.push_back(
        {limit.key, std::string{result->outcome}, share_from(limit), printable(trim(limit.value))});
  }
  return out;
}

/// One sentence for each result that is worse than the first scenario's by more than allowed.
std::vector<std::string> complaints(const Comparison& comparison,
                                    const std::vector<AllowedChange>& allowed) {
  std::vector<std::string> out;
  for (const AllowedChange& one : allowed) {
    for (const Outcome& outcome : comparison.outcomes) {
      if (outcome.name != one.outcome) {
        continue;
      }
      for (std::size_t i = 1; i < comparison.names.size(); ++i) {
        const double change = change_of(outcome, i).value_or(0.0);
        const double worse = outcome.better == Better::higher ? -change : change;
        if (worse > one.share) {
          out.push_back(fmt::format("{} of {} changes by {}, the limit was {}", one.key,
                                    printable(comparison.names[i]), signed_percent(change),
                                    one.text));
        }
      }
    }
  }
  return out;
}

/// What to load: each scenario as named, or one of them without and with the settings.
std::vector<std::pair<std::string, Options>> wanted(const Options& options) {
  std::vector<std::pair<std::string, Options>> out;
  for (const std::string& name : options.arguments) {
    out.emplace_back(name, options);
  }
  if (options.arguments.size() == 1 && !options.settings.empty()) {
    out.front().second.settings.clear();
    std::string changed = options.arguments.front();
    for (const std::string& setting : options.settings) {
      changed += " " + setting;
    }
    out.emplace_back(changed, options);
  }
  if (out.size() < 2) {
    throw misuse("'compare' needs two scenarios, or one and --set",
                 "try: clustersim compare dgx_h100 --set recompute=full");
  }
  return out;
}

} // namespace

ExitCode compare_verb(const Options& options) {
  const Format format = chosen_format(options, {Format::text, Format::json, Format::csv});
  const std::vector<AllowedChange> allowed = allowed_changes(options.fail_on);
  const auto scenarios = wanted(options);
  std::vector<NamedAnswer> answers;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const auto& [name, with] = scenarios[i];
    const bool same_file = options.arguments.size() == 1;
    const std::string path = config_path(options, options.arguments[same_file ? 0 : i]);
    ExitCode code = ExitCode::done;
    const auto scenario = load(with, path, code);
    if (!scenario) {
      return code;
    }
    if (scenario->serves()) {
      throw misuse("'compare' compares training steps, and this scenario serves",
                   "run each with --json, and compare these");
    }
    answers.push_back({name, answer(*scenario)});
  }
  const Comparison comparison = compare(answers);
  deliver(options, format == Format::json ? render_comparison_json(comparison, CLUSTERSIM_VERSION)
                   : format == Format::csv
                       ? render_comparison_csv(comparison)
                       : render_comparison_text(comparison, output_style(options)));
  const auto worse = complaints(comparison, allowed);
  for (const std::string& complaint : worse) {
    say(fmt::format("clustersim: {}\n", complaint));
  }
  return worse.empty() ? ExitCode::done : ExitCode::check_failed;
}

} // namespace clustersim::cli
