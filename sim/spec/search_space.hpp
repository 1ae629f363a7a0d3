#pragma once
// Which plans `search` may choose from ([search] of a scenario, --fix). An axis that is not listed
// is open: all its values that the model, the batch and the cluster allow.

#include <cstdint>
#include <vector>

namespace clustersim {

enum class Recompute;
enum class Schedule;
enum class ContextExchange;

struct SearchSpace {
  std::vector<std::int64_t> tensor, pipeline, virtual_stages, context, expert, expert_tensor;
  std::vector<std::int64_t> zero, hybrid_shard, micro_batch;
  std::vector<bool> sequence_parallel;
  std::vector<ContextExchange> context_exchange;
  std::vector<Recompute> recompute;
  std::vector<Schedule> schedule;
};

} // namespace clustersim
