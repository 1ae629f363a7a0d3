#pragma once
// The best plans of a space under the analytic engine: all of them tried, or all but those that a
// lower bound proves worse (docs/explanation/search.md). The result, counts included, does not
// depend on the number of threads.

#include "study/plan_space.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace clustersim {

/// What the best plan has least of; tokens per dollar is the same as cost, spelt the other way
/// round. Cost is rent and electricity, as far as prices are known.
enum class Objective { step_time, cost, energy, memory, tokens_per_dollar };
[[nodiscard]] std::string_view name_of(Objective objective);
[[nodiscard]] constexpr bool needs_prices(Objective objective) {
  return objective == Objective::cost || objective == Objective::tokens_per_dollar;
}

struct SearchProgress {
  std::int64_t done = 0, plans = 0; // plans dealt with, of all
};

struct SearchOptions {
  Objective objective = Objective::step_time;
  std::size_t top = 10;
  bool exhaustive = false; // no pruning
  bool pareto = false;     // also the front of step time against memory
  int threads = 0;         // 0: all
  int part = 1, parts = 1; // of a search split over machines: cells number part, part + parts, …
  std::function<bool()> stop = {}; // asked before each plan, by all threads; stays true
  std::function<void(const SearchProgress&)> progress = {};
};

struct FoundPlan {
  Plan plan;
  double score = 0.0; // seconds, dollars, joules or bytes, by objective
  Seconds step;
  Bytes used, usable; // per chip, with the framework's reserve
  std::optional<Joules> energy;
  std::optional<Dollars> cost;
};

struct SearchResult {
  // Of a finished search, enumerated = evaluated + pruned + refused.
  std::int64_t enumerated = 0, evaluated = 0, pruned = 0;
  Refusals refused;                 // "memory" among them
  std::vector<FoundPlan> best;      // best first
  std::vector<FoundPlan> pareto;    // fastest first; at most 1,000
  std::optional<FoundPlan> nearest; // where nothing fits: the plan that lacks least
  bool interrupted = false;
};

/// `scenario` gives all but the plan.
[[nodiscard]] SearchResult search(const Scenario& scenario, const SearchOptions& options);

} // namespace clustersim
