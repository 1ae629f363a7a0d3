#include "study/search.hpp"

#include "base/bug.hpp"
#include "pipeline.hpp"
#include "study/parallel.hpp"
#include "study/plan_rating.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>

namespace clustersim {
namespace {

constexpr std::size_t most_front = 1000;
constexpr std::size_t most_cells_at_once = 64;

bool fits(const FoundPlan& plan) {
  return plan.used <= plan.usable;
}
Bytes shortage(const FoundPlan& plan) {
  return plan.used - plan.usable;
}

/// Of equal plans the plainest, so that the order in which they are found decides nothing.
auto plainness(const FoundPlan& found) {
  const Plan& p = found.plan;
  return std::tuple(found.used, p.recompute, p.schedule, p.virtual_stages, p.pipeline, p.context,
                    p.context_exchange, p.expert, p.tensor, p.expert_tensor, p.zero, p.hybrid_shard,
                    p.sequence_parallel, p.micro_batch);
}
bool better(const FoundPlan& a, const FoundPlan& b) {
  if (a.score != b.score) return a.score < b.score;
  return plainness(a) < plainness(b);
}

/// The `size` best plans so far.
class Leaders {
public:
  explicit Leaders(std::size_t size) : size_(size) {}
  void add(FoundPlan plan) {
    const auto at = std::upper_bound(plans_.begin(), plans_.end(), plan, better);
    plans_.insert(at, std::move(plan));
    if (plans_.size() > size_) plans_.pop_back();
  }
  /// What a plan must not exceed to be among them.
  [[nodiscard]] double worst() const {
    return plans_.size() < size_ ? std::numeric_limits<double>::infinity() : plans_.back().score;
  }
  [[nodiscard]] std::vector<FoundPlan> take() { return std::move(plans_); }

private:
  std::size_t size_;
  std::vector<FoundPlan> plans_;
};

/// Plans of which no other is both faster and smaller, fastest first. Beyond its size it keeps
/// those that are furthest apart.
class Front {
public:
  /// Whether something at most so slow and so large is known.
  [[nodiscard]] bool beats(Seconds step, Bytes used) const {
    const auto after = std::upper_bound(plans_.begin(), plans_.end(), step,
                                        [](Seconds t, const FoundPlan& p) { return t < p.step; });
    return after != plans_.begin() && std::prev(after)->used <= used;
  }
  void add(const FoundPlan& plan) {
    const auto equal = std::find_if(plans_.begin(), plans_.end(), [&](const FoundPlan& p) {
      return p.step == plan.step && p.used == plan.used;
    });
    if (equal != plans_.end() && plainness(plan) < plainness(*equal)) *equal = plan;
    if (beats(plan.step, plan.used)) return;
    const auto at = std::lower_bound(plans_.begin(), plans_.end(), plan.step,
                                     [](const FoundPlan& p, Seconds t) { return p.step < t; });
    const auto end =
        std::find_if(at, plans_.end(), [&](const FoundPlan& p) { return p.used < plan.used; });
    plans_.insert(plans_.erase(at, end), plan);
    if (plans_.size() > most_front) thin();
  }
  [[nodiscard]] const std::vector<FoundPlan>& plans() const { return plans_; }

private:
  /// Drops the inner plan whose neighbours in time are closest together.
  void thin() {
    std::size_t drop = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i + 1 < plans_.size(); ++i) {
      const double gap = plans_[i + 1].step / plans_[i - 1].step;
      if (gap < least) {
        least = gap;
        drop = i;
      }
    }
    plans_.erase(plans_.begin() + static_cast<std::ptrdiff_t>(drop));
  }
  std::vector<FoundPlan> plans_;
};

/// What one cell adds.
struct CellOutcome {
  std::vector<FoundPlan> leaders;
  std::vector<FoundPlan> front;
  std::optional<FoundPlan> nearest;
  Refusals refused;
  std::int64_t evaluated = 0, pruned = 0;
};

void keep_nearest(std::optional<FoundPlan>& nearest, FoundPlan plan) {
  const bool nearer =
      !nearest || shortage(plan) < shortage(*nearest) ||
      (shortage(plan) == shortage(*nearest) && plainness(plan) < plainness(*nearest));
  if (nearer) nearest = std::move(plan);
}

bool asked_to_stop(const SearchOptions& options) {
  return options.stop && options.stop();
}

class CellSearch {
public:
  CellSearch(PlanRater& rater, const CellFloor& floor, const SearchOptions& options, double limit,
             const Front& known, bool anything_fits)
      : rater_(&rater), floor_(&floor), options_(&options), limit_(limit), known_(&known),
        leaders_(options.top), anything_fits_(anything_fits) {}

  CellOutcome run(const PlanSpace& space, const PlanCell& cell) {
    std::vector<std::pair<double, Plan>> open;
    space.visit(cell, [&](const Plan& plan) {
      const Refusal refusal = rater_->refusal(plan);
      if (!refusal.key.empty()) return out_.refused.add(refusal.key, refusal.reason);
      open.emplace_back(options_->exhaustive ? 0.0 : rater_->least_score(*floor_, plan), plan);
    });
    // The most promising first: what they reach rules out more of the others.
    std::stable_sort(open.begin(), open.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [least, plan] : open) {
      if (asked_to_stop(*options_)) break;
      consider(plan, least);
    }
    out_.leaders = leaders_.take();
    if (options_->pareto) out_.front = own_.plans();
    return std::move(out_);
  }

private:
  void consider(const Plan& plan, double least) {
    if (hopeless(plan, least, Bytes{0})) {
      ++out_.pruned;
      return;
    }
    rater_->take(plan);
    const Bytes lacking = rater_->least_shortage();
    if (lacking > Bytes{0}) return too_large(lacking);
    FoundPlan sized = rater_->sized();
    if (!fits(sized)) return too_large(shortage(sized));
    const bool by_memory = options_->objective == Objective::memory;
    if (hopeless(plan, by_memory ? sized.used.si() : least, sized.used)) {
      ++out_.pruned;
      return;
    }
    FoundPlan found = rater_->timed(std::move(sized));
    ++out_.evaluated;
    anything_fits_ = true;
    if (options_->pareto) own_.add(found);
    leaders_.add(std::move(found));
  }

  /// Equal scores are kept: the plainest of equals wins, whatever was pruned.
  [[nodiscard]] bool hopeless(const Plan& plan, double least, Bytes used) const {
    if (options_->exhaustive || least <= std::min(limit_, leaders_.worst())) return false;
    if (!options_->pareto) return true;
    const Seconds step = rater_->least_step(*floor_, plan);
    return known_->beats(step, used) || own_.beats(step, used);
  }

  void too_large(Bytes lacking) {
    out_.refused.add("memory", "does not fit in the memory of a chip");
    if (anything_fits_) return;
    if (out_.nearest && shortage(*out_.nearest) < lacking) return;
    keep_nearest(out_.nearest, rater_->sized());
  }

  PlanRater* rater_;
  const CellFloor* floor_;
  const SearchOptions* options_;
  double limit_;
  const Front* known_; // of finished batches
  Front own_;
  Leaders leaders_;
  bool anything_fits_;
  CellOutcome out_;
};

class Search {
public:
  Search(const Scenario& scenario, const SearchOptions& options)
      : scenario_(&scenario), options_(&options), space_(scenario), leaders_(options.top),
        threads_(threads_for(options.threads)), raters_(static_cast<std::size_t>(threads_)) {}

  SearchResult run() {
    take_part();
    find_floors();
    for (std::size_t first = 0, size = 1; first < order_.size();) {
      if (asked_to_stop(*options_)) break;
      if (nothing_left(first)) {
        for (; first < order_.size(); ++first)
          prune(order_[first]);
        break;
      }
      const std::size_t end = std::min(order_.size(), first + size);
      run_batch(first, end);
      first = end;
      size = std::min(2 * size, most_cells_at_once);
    }
    return finish();
  }

private:
  PlanRater& rater() {
    std::unique_ptr<PlanRater>& mine = raters_[static_cast<std::size_t>(omp_get_thread_num())];
    if (!mine) mine = std::make_unique<PlanRater>(*scenario_, options_->objective);
    return *mine;
  }

  void take_part() {
    const auto& cells = space_.cells();
    counts_.resize(cells.size());
    for (std::size_t i = static_cast<std::size_t>(options_->part - 1); i < cells.size();
         i += static_cast<std::size_t>(options_->parts)) {
      counts_[i] = space_.arrangements(cells[i]);
      if (counts_[i] == 0) continue;
      order_.push_back(i);
      result_.enumerated += counts_[i];
    }
  }

  /// Cells with the least floor first.
  void find_floors() {
    floors_.resize(space_.cells().size());
    if (options_->exhaustive) return;
    in_parallel(threads_, 0, order_.size(), [&](std::size_t i) {
      if (asked_to_stop(*options_)) return;
      const std::size_t cell = order_[i];
      if (possible(space_.cells()[cell])) {
        floors_[cell] = rater().floor_of(space_.cells()[cell]);
      }
    });
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return floors_[a].score < floors_[b].score;
    });
  }
  /// A cell that no arrangement can save has no floor, and its plans say why.
  bool possible(const PlanCell& cell) {
    const Refusal refusal = rater().refusal(cell.plan);
    return refusal.key.empty() || refusal.key == "training.global_batch";
  }

  [[nodiscard]] bool nothing_left(std::size_t first) const {
    return !options_->exhaustive && !options_->pareto && options_->objective != Objective::memory &&
           floors_[order_[first]].score > leaders_.worst();
  }
  void prune(std::size_t cell) {
    result_.pruned += counts_[cell];
    report(cell);
  }
  void report(std::size_t cell) {
    done_ += counts_[cell];
    if (options_->progress) options_->progress({done_, result_.enumerated});
  }

  void run_batch(std::size_t first, std::size_t end) {
    std::vector<CellOutcome> outcomes(end - first);
    const double limit = leaders_.worst();
    in_parallel(threads_, first, end, [&](std::size_t i) {
      const std::size_t cell = order_[i];
      outcomes[i - first] = CellSearch(rater(), floors_[cell], *options_, limit, front_, found_)
                                .run(space_, space_.cells()[cell]);
    });
    for (std::size_t i = first; i < end; ++i) {
      take(std::move(outcomes[i - first]));
      report(order_[i]);
    }
  }
  void take(CellOutcome outcome) {
    for (FoundPlan& plan : outcome.leaders) {
      found_ = true;
      leaders_.add(std::move(plan));
    }
    for (const FoundPlan& plan : outcome.front)
      front_.add(plan);
    if (outcome.nearest) keep_nearest(result_.nearest, std::move(*outcome.nearest));
    result_.refused.add(outcome.refused);
    result_.evaluated += outcome.evaluated;
    result_.pruned += outcome.pruned;
  }

  SearchResult finish() {
    result_.interrupted = done_ < result_.enumerated || asked_to_stop(*options_);
    result_.best = leaders_.take();
    result_.pareto = front_.plans();
    if (found_) result_.nearest.reset();
    if (result_.nearest) {
      PlanRater& rating = rater();
      rating.take(result_.nearest->plan);
      result_.nearest = rating.timed(*result_.nearest);
    }
    for (std::vector<FoundPlan>* plans : {&result_.best, &result_.pareto}) {
      for (FoundPlan& plan : *plans)
        add_energy_and_cost(plan);
    }
    return std::move(result_);
  }
  void add_energy_and_cost(FoundPlan& plan) {
    PlanRater& rating = rater();
    rating.take(plan.plan);
    rating.add_energy_and_cost(plan);
  }

  const Scenario* scenario_;
  const SearchOptions* options_;
  PlanSpace space_;
  Leaders leaders_;
  Front front_;
  int threads_;
  std::vector<std::unique_ptr<PlanRater>> raters_;
  std::vector<std::int64_t> counts_; // arrangements by cell
  std::vector<CellFloor> floors_;
  std::vector<std::size_t> order_;
  SearchResult result_;
  std::int64_t done_ = 0;
  bool found_ = false;
};

} // namespace

std::string_view name_of(Objective objective) {
  switch (objective) {
  case Objective::step_time:
    return "step_time";
  case Objective::cost:
    return "cost";
  case Objective::energy:
    return "energy";
  case Objective::memory:
    return "memory";
  case Objective::tokens_per_dollar:
    return "tokens_per_dollar";
  }
  throw Bug("unknown objective");
}

SearchResult search(const Scenario& scenario, const SearchOptions& options) {
  return Search(scenario, options).run();
}

} // namespace clustersim
