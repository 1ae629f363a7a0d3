#include "analysis/remedies.hpp"

#include "engine/analytic.hpp"
#include "plan/lower.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace clustersim {

namespace {

struct Candidate {
  std::string change;
  Scenario scenario;
};

void try_recompute(const Scenario& base, std::vector<Candidate>& out) {
  for (const Recompute level : {Recompute::selective, Recompute::full}) {
    if (level > base.plan.recompute) {
      Scenario changed = base;
      changed.plan.recompute = level;
      out.push_back(
          {fmt::format("plan.recompute = \"{}\"", level == Recompute::full ? "full" : "selective"),
           std::move(changed)});
    }
  }
}

void try_micro_batch(const Scenario& base, std::vector<Candidate>& out) {
  for (std::int64_t size = base.plan.micro_batch / 2; size >= 1; size /= 2) {
    if (base.plan.micro_batch % size == 0) {
      Scenario changed = base;
      changed.plan.micro_batch = size;
      out.push_back({fmt::format("plan.micro_batch = {}", size), std::move(changed)});
    }
  }
}

/// Trades data for tensor parallelism inside a node.
void try_tensor(const Scenario& base, std::vector<Candidate>& out) {
  const int in_node = base.cluster.partitions.front().node.chips;
  for (int factor = 2; base.plan.tensor * factor <= in_node; factor *= 2) {
    const int tensor = base.plan.tensor * factor;
    if (base.plan.data % factor != 0 || base.model.heads % tensor != 0 ||
        base.model.kv_heads % tensor != 0 || base.model.ffn_hidden % tensor != 0) {
      continue;
    }
    Scenario changed = base;
    changed.plan.tensor = tensor;
    changed.plan.data /= factor;
    changed.plan.sequence_parallel = true;
    out.push_back({fmt::format("plan.tensor = {}, data = {}, sequence_parallel = true", tensor,
                               changed.plan.data),
                   std::move(changed)});
  }
}

void try_sharding(const Scenario& base, std::vector<Candidate>& out) {
  if (base.plan.zero == 0 && base.plan.data > 1) {
    Scenario changed = base;
    changed.plan.zero = 1;
    out.push_back({"plan.zero = 1", std::move(changed)});
  }
  if (base.plan.tensor > 1 && !base.plan.sequence_parallel) {
    Scenario changed = base;
    changed.plan.sequence_parallel = true;
    out.push_back({"plan.sequence_parallel = true", std::move(changed)});
  }
  if (base.training.gradient_dtype == Precision::fp32 &&
      base.training.precision == Precision::bf16) {
    Scenario changed = base;
    changed.training.gradient_dtype = Precision::bf16;
    out.push_back({"training.gradient_dtype = \"bf16\"", std::move(changed)});
  }
}

/// The strongest form of every change together: says whether this cluster can hold the model at
/// all.
void try_everything(std::vector<Candidate>& out) {
  if (out.empty()) {
    return;
  }
  std::vector<Candidate> last;
  Scenario all = out.front().scenario;
  all.plan.recompute = Recompute::full;
  all.plan.micro_batch = 1;
  if (all.plan.data > 1) {
    all.plan.zero = 1;
  }
  if (all.training.precision == Precision::bf16) {
    all.training.gradient_dtype = Precision::bf16;
  }
  try_tensor(all, last);
  const Scenario& widest = last.empty() ? all : last.back().scenario;
  out.push_back({fmt::format("plan.tensor = {}, data = {}, zero = {}, recompute = \"full\", "
                             "micro_batch = 1, gradient_dtype = \"{}\"",
                             widest.plan.tensor, widest.plan.data, widest.plan.zero,
                             name_of(widest.training.gradient_dtype)),
                 widest});
}

Seconds time_of(const Scenario& scenario) {
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  return step_time(lower(scenario), cost);
}

} // namespace

std::vector<Remedy> find_remedies(const Scenario& scenario, Seconds step, std::size_t count) {
  std::vector<Candidate> candidates;
  try_recompute(scenario, candidates);
  try_sharding(scenario, candidates);
  try_micro_batch(scenario, candidates);
  try_tensor(scenario, candidates);
  try_everything(candidates);

  const Bytes now = memory_footprint(scenario).peak;
  std::vector<Remedy> remedies;
  for (const Candidate& candidate : candidates) {
    const MemoryFootprint memory = memory_footprint(candidate.scenario);
    if (memory.peak < now) {
      remedies.push_back(
          {candidate.change, memory.peak, memory.fits(), time_of(candidate.scenario) / step - 1.0});
    }
  }
  std::stable_sort(remedies.begin(), remedies.end(), [](const Remedy& a, const Remedy& b) {
    return a.fits != b.fits ? a.fits : (a.fits ? a.slowdown < b.slowdown : a.peak < b.peak);
  });
  if (remedies.size() > count) {
    remedies.resize(count);
  }
  return remedies;
}

} // namespace clustersim
