#include "engine/job.hpp"

#include "base/bug.hpp"
#include "plan/lower.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace clustersim {

Scenario seen_from(const Scenario& scenario, std::size_t partition, std::int64_t micro_batches) {
  Scenario out = scenario;
  out.seen_from = partition;
  out.share = micro_batches;
  std::optional<Watts>& cap = out.power.cap;
  if (cap) cap = std::min(*cap, out.chip().power.tdp); // of the other boards
  return out;
}

Job uniform_job(const Scenario& scenario, const StepProgram& program) {
  Job job;
  job.parts.push_back({scenario, program, {}});
  return job;
}

Job mixed_job(const Scenario& scenario, const std::vector<std::int64_t>& shares) {
  if (shares.size() != scenario.cluster.partitions.size()) throw Bug("a share for each partition");
  Job job;
  for (std::size_t p = 0; p < shares.size(); ++p) {
    Scenario seen = seen_from(scenario, p, shares[p]);
    StepProgram program = lower(seen);
    StepProgram before = before_update(program);
    job.parts.push_back({std::move(seen), std::move(program), std::move(before)});
  }
  return job;
}

MemoryFootprint scarcest_memory(const Scenario& scenario) {
  MemoryFootprint least = memory_footprint(scenario);
  for (std::size_t p = 1; p < scenario.cluster.partitions.size(); ++p) {
    MemoryFootprint here = memory_footprint(seen_from(scenario, p, scenario.share));
    if (here.margin() < least.margin()) least = std::move(here);
  }
  return least;
}

JobTime job_time(const Job& job, Network& network, const ResourceScale& scale, Engine engine) {
  JobTime result;
  if (job.parts.size() == 1) {
    CostModel cost(job.parts.front().scenario, network, scale);
    result.step = step_time(job.parts.front().program, cost, engine);
    result.own = {result.step};
    return result;
  }
  Seconds most_before, longest_update, own_update;
  for (std::size_t p = 0; p < job.parts.size(); ++p) {
    const JobPart& part = job.parts[p];
    CostModel cost(part.scenario, network, scale);
    result.own.push_back(step_time(part.program, cost));
    const Seconds before = step_time(part.before, cost);
    const Seconds update = result.own.back() - before;
    longest_update = std::max(longest_update, update);
    if (p > 0 && !(before > most_before)) continue;
    most_before = before;
    own_update = update;
    result.slowest = p;
  }
  result.step = result.own[result.slowest] + (longest_update - own_update);
  return result;
}

} // namespace clustersim
