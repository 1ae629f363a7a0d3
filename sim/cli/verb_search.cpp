#include "base/text.hpp"
#include "cli/data.hpp"
#include "cli/failure.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "cli/words.hpp"
#include "report/search.hpp"
#include "spec/rewrite.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace clustersim::cli {
namespace {

constexpr std::array objectives{Objective::step_time, Objective::cost, Objective::energy,
                                Objective::memory, Objective::tokens_per_dollar};

Objective objective_of(const Options& options) {
  std::vector<std::string> names;
  for (const Objective one : objectives)
    names.emplace_back(name_of(one));
  const std::string name = one_of("--objective", options.search.objective, names);
  return objectives.at(
      static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
}

/// "2/8"
std::pair<int, int> part_of(const Options& options) {
  const std::string& text = options.search.shard;
  if (text.empty()) return {1, 1};
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) {
    throw misuse(fmt::format("--shard cannot be '{}'", printable(text)), "such as 2/8");
  }
  constexpr int most = 100000;
  const int parts = whole_number("--shard", text.substr(slash + 1), most);
  return {whole_number("--shard", text.substr(0, slash), parts), parts};
}

/// --fix tensor=4,8 is a setting of [search].
std::vector<std::string> with_fixes(const Options& options) {
  std::vector<std::string> settings = options.settings;
  for (const std::string& fix : options.search.fix) {
    const std::size_t equals = fix.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw misuse(fmt::format("--fix cannot be '{}'", printable(fix)), "such as tensor=8");
    }
    std::string values;
    for (const std::string& value : split(fix.substr(equals + 1), ',')) {
      const std::string word = trim(value);
      const bool plain =
          word == "true" || word == "false" ||
          (!word.empty() && word.find_first_not_of("0123456789_") == std::string::npos);
      values += (values.empty() ? "" : ", ") + (plain ? word : "\"" + word + "\"");
    }
    settings.push_back("search." + trim(fix.substr(0, equals)) + "=[" + values + "]");
  }
  return settings;
}

/// One line on a terminal, rewritten at most ten times a second.
class ProgressLine {
public:
  explicit ProgressLine(const Options& options)
      : on_(!options.quiet && ::isatty(STDERR_FILENO) == 1), begun_(Clock::now()), shown_(begun_) {}
  void operator()(const SearchProgress& progress) {
    const Clock::time_point now = Clock::now();
    if (!on_ || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - begun_).count();
    const double rate = static_cast<double>(progress.done) / seconds;
    const double left = static_cast<double>(progress.plans - progress.done) / rate;
    say(fmt::format("\r\x1b[K{} of {} plans, {} a second, {:.0f} s left", grouped(progress.done),
                    grouped(progress.plans), grouped(rate), left));
    drawn_ = true;
  }
  void clear() const {
    if (drawn_) say("\r\x1b[K");
  }

private:
  using Clock = std::chrono::steady_clock;
  bool on_, drawn_ = false;
  Clock::time_point begun_, shown_;
};

/// The scenario's own plan, if it can be run.
std::optional<Scenario> given_plan(const Options& options, const std::string& path,
                                   const Catalogue& catalogue) {
  Diagnostics unheard;
  return load_scenario(path, catalogue, load_options(options), unheard);
}

void check_prices(const Scenario& scenario, Objective objective) {
  if (needs_prices(objective) && !scenario.chip().cloud_price && !scenario.prices.electricity) {
    throw misuse(fmt::format("no price is known: {} has no cloud_price, and the scenario no "
                             "prices.electricity",
                             scenario.chip().name),
                 "such as --set prices.electricity=\"0.15 USD/kWh\"");
  }
}

/// Runs the best plan whole, and what it is held against.
void explain_best(SearchReport& report, const std::optional<Scenario>& given) {
  if (report.result.best.empty()) return;
  const auto run = [&](const Plan& plan) {
    Scenario scenario = report.scenario;
    adopt(scenario, plan, report.scenario.model.vocabulary);
    return answer(scenario);
  };
  report.best = run(report.result.best.front().plan);
  if (given && memory_footprint(*given).fits()) {
    report.other = answer(*given);
    report.other_is_given = true;
  } else if (report.result.best.size() > 1) {
    report.other = run(report.result.best[1].plan);
  }
}

void deliver_config(const Options& options, const std::string& path, const SearchReport& report) {
  if (report.result.best.empty()) return;
  Diagnostics diagnostics;
  const auto text = with_plan(path, options.settings, report.best->scenario.plan, diagnostics);
  print(options, diagnostics);
  if (!text) throw Failure(ExitCode::cannot_read_or_write, "cannot read the scenario again", "");
  write_file(options.output, "# The best plan that `clustersim search` found.\n" + *text, true);
  note(options, fmt::format("wrote {}\n", printable(options.output)));
}

std::string rendered(const SearchReport& report, Format format, const Options& options) {
  if (format == Format::json) return render_search_json(report, CLUSTERSIM_VERSION);
  if (format == Format::csv) return render_search_csv(report);
  return render_search_text(report, output_style(options));
}

} // namespace

ExitCode search_verb(const Options& options) {
  if (options.arguments.empty()) {
    throw misuse("'search' needs a scenario", "try: clustersim search llama3_8b_dgx_h100");
  }
  Options to_screen = options;
  const bool as_config = options.output.ends_with(".toml");
  if (as_config) to_screen.output.clear(); // which is the best plan's
  const Format format = chosen_format(to_screen, {Format::text, Format::json, Format::csv});
  SearchReport report;
  report.options.objective = objective_of(options);
  report.options.exhaustive = options.search.exhaustive;
  report.options.pareto = options.search.pareto;
  report.options.threads = thread_count(options);
  std::tie(report.options.part, report.options.parts) = part_of(options);
  if (!options.search.top.empty()) {
    report.options.top = static_cast<std::size_t>(whole_number("--top", options.search.top, 1000));
  }

  const std::string path = config_path(options, options.arguments.front());
  const Catalogue catalogue = open_catalogue(options, path);
  LoadOptions loading = load_options(options);
  loading.settings = with_fixes(options);
  loading.open_plan = true;
  Diagnostics diagnostics;
  auto scenario = load_scenario(path, catalogue, loading, diagnostics);
  print(options, diagnostics);
  if (!scenario) return diagnostics.exit_code();
  if (scenario->serves()) {
    throw misuse("plans of a model that serves are not searched yet",
                 "try: clustersim run with --set plan.tensor and the like");
  }
  if (scenario->cluster.partitions.size() > 1) {
    throw misuse("plans of unlike partitions are not searched yet",
                 "try: clustersim run, whose what-ifs are of the plan, too");
  }
  report.scenario = std::move(*scenario);
  check_prices(report.scenario, report.options.objective);

  ProgressLine line(options);
  const Interrupt interrupt;
  report.options.stop = [&] { return interrupt.asked(); };
  report.options.progress = [&](const SearchProgress& progress) { line(progress); };
  report.result = search(report.scenario, report.options);
  line.clear();
  explain_best(report, given_plan(options, path, catalogue));
  deliver(to_screen, rendered(report, format, to_screen));
  if (as_config) deliver_config(options, path, report);
  if (report.result.interrupted) return interrupt.exit_code();
  return report.result.best.empty() ? ExitCode::does_not_fit : ExitCode::done;
}

} // namespace clustersim::cli
