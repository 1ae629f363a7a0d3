#pragma once
// One step of the whole cluster: one program where all its chips are alike, one for each partition
// where they are not (docs/explanation/unlike-partitions.md). Gradients meet in the reduction, so
// that nobody updates before the slowest partition is there:
//
//   step = max over partitions of (what precedes the update) + max of (the update)

#include "engine/engine.hpp"
#include "plan/memory.hpp"
#include "plan/step_program.hpp"
#include "spec/scenario.hpp"

#include <cstddef>
#include <vector>

namespace clustersim {

/// What the replicas of one partition do.
struct JobPart {
  Scenario scenario; // as seen from there, its share included
  StepProgram program;
  StepProgram before; // without the update; empty where there is one part
};
struct Job {
  std::vector<JobPart> parts;
};

/// As seen from a partition whose replicas do so many micro-batches each.
[[nodiscard]] Scenario seen_from(const Scenario& scenario, std::size_t partition,
                                 std::int64_t micro_batches);

/// All replicas alike.
[[nodiscard]] Job uniform_job(const Scenario& scenario, const StepProgram& program);
/// Micro-batches of a replica by partition.
[[nodiscard]] Job mixed_job(const Scenario& scenario, const std::vector<std::int64_t>& shares);

/// Of the partition with the least room to spare, with shares as they are in the scenario: it
/// decides whether the job fits.
[[nodiscard]] MemoryFootprint scarcest_memory(const Scenario& scenario);

struct JobTime {
  Seconds step;
  std::size_t slowest = 0;  // the partition that the others wait for
  std::vector<Seconds> own; // step of each partition, if none had to wait
};
/// Unlike partitions together are timed by the analytic engine.
[[nodiscard]] JobTime job_time(const Job& job, Network& network, const ResourceScale& scale = {},
                               Engine engine = Engine::analytic);

} // namespace clustersim
