#include "engine/balance.hpp"

#include "engine/analytic.hpp"
#include "engine/job.hpp"
#include "plan/lower.hpp"
#include "spec/validate_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

namespace clustersim {

namespace {

/// The replicas of one partition, timed for any number of micro-batches. Counts are in units: the
/// multiples that the schedule can be dealt out in.
class Worker {
public:
  Worker(const Scenario& scenario, std::size_t partition, Network& network, MicroBatchRule rule)
      : scenario_(seen_from(scenario, partition, rule.least)), cost_(scenario_, network),
        unit_(rule.multiple), least_(rule.least / rule.multiple),
        replicas_(scenario_.partition().chips() /
                  (scenario.plan.tensor * scenario.plan.context * scenario.plan.pipeline)) {}

  [[nodiscard]] std::int64_t replicas() const { return replicas_; }
  [[nodiscard]] std::int64_t least() const { return least_; }

  Seconds before_update(std::int64_t units) {
    const auto known = times_.find(units);
    if (known != times_.end()) return known->second;
    scenario_.share = units * unit_;
    const Seconds time = step_time(clustersim::before_update(lower(scenario_)), cost_);
    return times_.emplace(units, time).first->second;
  }

  /// Most units that are done by then, of `all`.
  std::int64_t done_by(Seconds level, std::int64_t all) {
    std::int64_t low = least_ - 1, high = all; // done at low, not beyond high
    while (low < high) {
      const std::int64_t middle = high - (high - low) / 2;
      if (before_update(middle) <= level) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  /// The same with units that can be cut.
  double cut_by(Seconds level, std::int64_t all) {
    const std::int64_t whole = std::max(done_by(level, all), least_);
    const Seconds here = before_update(whole), next = before_update(whole + 1);
    const double part = next > here ? (level - here) / (next - here) : 0.0;
    return std::max(0.0, static_cast<double>(whole) + part);
  }

private:
  Scenario scenario_;
  CostModel cost_;
  std::int64_t unit_, least_, replicas_;
  std::map<std::int64_t, Seconds> times_;
};

class Balancer {
public:
  Balancer(const Scenario& scenario, Network& network)
      : rule_(micro_batch_rule(scenario.plan)),
        units_(scenario.training.global_batch / scenario.plan.micro_batch / rule_.multiple) {
    for (std::size_t p = 0; p < scenario.cluster.partitions.size(); ++p)
      workers_.emplace_back(scenario, p, network, rule_);
  }

  std::vector<PartitionShare> shares() {
    const Seconds level = least_level();
    std::vector<std::int64_t> units;
    std::int64_t surplus = -units_;
    for (Worker& worker : workers_) {
      units.push_back(std::max(worker.least(), worker.done_by(level, units_)));
      surplus += units.back() * worker.replicas();
    }
    give_back(units, surplus);
    std::vector<PartitionShare> out;
    for (std::size_t p = 0; p < workers_.size(); ++p) {
      PartitionShare share;
      share.replicas = workers_[p].replicas();
      share.micro_batches = units[p] * rule_.multiple;
      share.all = share.micro_batches * share.replicas;
      share.each = (workers_[p].before_update(units[p] + 1) - workers_[p].before_update(units[p])) /
                   static_cast<double>(rule_.multiple);
      out.push_back(share);
    }
    // What is left over: some replicas of one partition do one unit less.
    if (surplus > 0) {
      const auto roomy = std::find_if(out.begin(), out.end(), [&](const PartitionShare& share) {
        return share.replicas >= surplus && share.micro_batches > rule_.least;
      });
      if (roomy != out.end()) roomy->all -= surplus * rule_.multiple;
    }
    return out;
  }

  Seconds ideal() {
    Seconds low, high = level_of_all();
    for (int i = 0; i < 60; ++i) {
      const Seconds middle = (low + high) / 2.0;
      double done = 0.0;
      for (Worker& worker : workers_)
        done += worker.cut_by(middle, units_) * static_cast<double>(worker.replicas());
      (done < static_cast<double>(units_) ? low : high) = middle;
    }
    return high;
  }

  /// Every replica alike, as many units as they need.
  [[nodiscard]] std::int64_t equal_share() const {
    std::int64_t replicas = 0;
    for (const Worker& worker : workers_)
      replicas += worker.replicas();
    return ((units_ + replicas - 1) / replicas) * rule_.multiple;
  }

private:
  [[nodiscard]] bool suffices(Seconds level) {
    std::int64_t done = 0;
    for (Worker& worker : workers_)
      done += std::max(worker.least(), worker.done_by(level, units_)) * worker.replicas();
    return done >= units_;
  }

  /// The smallest of the times at which some worker ends a unit by when all is done.
  Seconds least_level() {
    std::optional<Seconds> best;
    for (Worker& worker : workers_) {
      std::int64_t low = worker.least(), high = std::max(low, units_);
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (suffices(worker.before_update(middle))) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      const Seconds level = worker.before_update(low);
      if (suffices(level) && (!best || level < *best)) best = level;
    }
    return best.value_or(level_of_all());
  }

  Seconds level_of_all() {
    Seconds most;
    for (Worker& worker : workers_)
      most = std::max(most, worker.before_update(std::max(worker.least(), units_)));
    return most;
  }

  /// Whole rounds that nobody needs, the latest first.
  void give_back(std::vector<std::int64_t>& units, std::int64_t& surplus) {
    while (surplus > 0) {
      std::optional<std::size_t> latest;
      for (std::size_t p = 0; p < workers_.size(); ++p) {
        if (units[p] <= workers_[p].least() || workers_[p].replicas() > surplus) continue;
        if (!latest ||
            workers_[p].before_update(units[p]) > workers_[*latest].before_update(units[*latest]))
          latest = p;
      }
      if (!latest) return;
      --units[*latest];
      surplus -= workers_[*latest].replicas();
    }
  }

  MicroBatchRule rule_;
  std::int64_t units_;
  std::vector<Worker> workers_;
};

} // namespace

std::vector<std::int64_t> Balance::shares() const {
  std::vector<std::int64_t> out;
  for (const PartitionShare& share : partitions)
    out.push_back(share.micro_batches);
  return out;
}

Balance balance(const Scenario& scenario, Network& network) {
  const Scenario base = bare(scenario); // copied for each partition
  Balancer balancer(base, network);
  Balance result;
  result.partitions = balancer.shares();
  const std::vector<std::int64_t> shares = result.shares();
  const Job job = mixed_job(base, shares);
  const JobTime time = job_time(job, network);
  result.step = time.step;
  const std::vector<std::int64_t> equal(shares.size(), balancer.equal_share());
  result.equal = job_time(mixed_job(base, equal), network).step;
  const JobPart& slowest = job.parts[time.slowest];
  CostModel cost(slowest.scenario, network);
  // The update is the same whatever the shares.
  result.ideal = balancer.ideal() + (time.step - step_time(slowest.before, cost));
  return result;
}

} // namespace clustersim
