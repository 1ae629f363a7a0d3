#include "analysis/plan_changes.hpp"

#include "analysis/plan_axes.hpp"
#include "engine/analytic.hpp"
#include "engine/balance.hpp"
#include "engine/job.hpp"
#include "plan/lower.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace clustersim {
namespace {

/// One option of each axis, counted from 1; 0 = as given.
using Choice = std::vector<std::size_t>;

struct Candidate {
  Choice choice;
  Scenario scenario;
  MemoryFootprint memory;
};

std::size_t changes(const Choice& choice) {
  return choice.size() -
         static_cast<std::size_t>(std::count(choice.begin(), choice.end(), std::size_t{0}));
}

/// Whether `part` does some of what `whole` does, and nothing else.
bool contained(const Choice& part, const Choice& whole) {
  for (std::size_t axis = 0; axis < part.size(); ++axis) {
    if (part[axis] != 0 && part[axis] != whole[axis]) {
      return false;
    }
  }
  return part != whole;
}

Scenario chosen(const Scenario& base, const std::vector<PlanAxis>& axes, const Choice& choice) {
  Scenario out = base;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (choice[axis] != 0) {
      axes[axis].options[choice[axis] - 1](out);
    }
  }
  return out;
}

/// The next choice in mixed radix; false after the last.
bool advance(Choice& choice, const std::vector<PlanAxis>& axes) {
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (++choice[axis] <= axes[axis].options.size()) {
      return true;
    }
    choice[axis] = 0;
  }
  return false;
}

std::vector<Candidate> candidates(const Scenario& base, const std::vector<PlanAxis>& axes,
                                  std::size_t most_changes) {
  std::vector<Candidate> out;
  Choice choice(axes.size(), 0);
  while (advance(choice, axes)) {
    if (changes(choice) > most_changes) {
      continue;
    }
    Scenario scenario = chosen(base, axes, choice);
    if (feasible(scenario) && !difference(base, scenario).empty()) {
      MemoryFootprint memory = scarcest_memory(scenario);
      out.push_back({choice, std::move(scenario), std::move(memory)});
    }
  }
  return out;
}

/// With shares of its own where partitions are unlike.
Seconds step_of(const Scenario& scenario, Network& network) {
  if (scenario.cluster.partitions.size() > 1) return balance(scenario, network).step;
  CostModel cost(scenario, network);
  return step_time(lower(scenario), cost);
}

PlanChange priced(const Scenario& base, const Candidate& candidate, Network& network) {
  return {difference(base, candidate.scenario), step_of(candidate.scenario, network),
          candidate.memory.peak, candidate.memory.fits()};
}

/// Those that fit and of which no part would.
std::vector<const Candidate*> least_changes(const std::vector<Candidate>& all) {
  std::vector<const Candidate*> out;
  for (const Candidate& one : all) {
    const bool more_than_needed = std::any_of(all.begin(), all.end(), [&](const Candidate& other) {
      return other.memory.fits() && contained(other.choice, one.choice);
    });
    if (one.memory.fits() && !more_than_needed) {
      out.push_back(&one);
    }
  }
  return out;
}

/// Single changes that free memory and the combination that frees most, emptiest first.
std::vector<const Candidate*> relief(const std::vector<Candidate>& all, Bytes now) {
  std::vector<const Candidate*> out;
  const auto emptier = [](const Candidate& a, const Candidate& b) {
    return a.memory.peak < b.memory.peak;
  };
  const auto emptiest = std::min_element(all.begin(), all.end(), emptier);
  for (auto one = all.begin(); one != all.end(); ++one) {
    const bool counts = one == emptiest || changes(one->choice) == 1;
    if (counts && !one->memory.fits() && one->memory.peak < now) {
      out.push_back(&*one);
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [&](const Candidate* a, const Candidate* b) { return emptier(*a, *b); });
  return out;
}

} // namespace

std::vector<PlanChange> faster_plans(const Scenario& scenario, Seconds step, Network& network) {
  const Scenario base = bare(scenario);
  std::vector<PlanAxis> axes = plan_axes(base);
  std::erase_if(axes, [](const PlanAxis& axis) { return axis.numerics; });
  std::vector<PlanChange> out;
  for (const Candidate& candidate : candidates(base, axes, 1)) {
    if (!candidate.memory.fits()) {
      continue;
    }
    PlanChange change = priced(base, candidate, network);
    if (change.step < step) {
      out.push_back(std::move(change));
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PlanChange& a, const PlanChange& b) { return a.step < b.step; });
  return out;
}

std::vector<PlanChange> plans_with_less_memory(const Scenario& scenario, Network& network,
                                               std::size_t count) {
  const Scenario base = bare(scenario);
  const std::vector<PlanAxis> axes = plan_axes(base);
  const std::vector<Candidate> all = candidates(base, axes, axes.size());
  std::vector<PlanChange> out;
  for (const Candidate* candidate : least_changes(all)) {
    out.push_back(priced(base, *candidate, network));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const PlanChange& a, const PlanChange& b) { return a.step < b.step; });
  out.resize(std::min(out.size(), count));
  for (const Candidate* candidate : relief(all, scarcest_memory(base).peak)) {
    if (out.size() < count) {
      out.push_back(priced(base, *candidate, network));
    }
  }
  return out;
}

} // namespace clustersim
