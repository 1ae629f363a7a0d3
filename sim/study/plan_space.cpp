#include "study/plan_space.hpp"

#include "spec/validate_plan.hpp"

#include <algorithm>
#include <numeric>

namespace clustersim {
namespace {

constexpr std::int64_t fewest_tokens = 256; // of a sequence on a context rank

std::vector<std::int64_t> divisors(std::int64_t number, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    for (const std::int64_t one : {d, number / d}) {
      if (one <= most) out.push_back(one);
    }
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

template <class T>
void fill(std::vector<T>& axis, std::vector<T> whole) {
  if (axis.empty()) axis = std::move(whole);
  std::sort(axis.begin(), axis.end());
}

std::vector<std::int64_t> open_contexts(const Scenario& scenario) {
  if (scenario.model.decoder_layers > 0) return {1};
  std::vector<std::int64_t> out =
      divisors(scenario.cluster.chips(),
               std::max<std::int64_t>(1, scenario.training.sequence / fewest_tokens));
  std::erase_if(out,
                [&](std::int64_t c) { return c > 1 && scenario.training.sequence % (2 * c) != 0; });
  return out;
}

} // namespace

void Refusals::add(const std::string& key, const std::string& reason) {
  One& one = by_key[key];
  if (one.count++ == 0) one.reason = reason;
}

void Refusals::add(const Refusals& more) {
  for (const auto& [key, other] : more.by_key) {
    One& one = by_key[key];
    if (one.count == 0) one.reason = other.reason;
    one.count += other.count;
  }
}

std::int64_t Refusals::total() const {
  std::int64_t sum = 0;
  for (const auto& [key, one] : by_key)
    sum += one.count;
  return sum;
}

SearchSpace whole_space(const Scenario& scenario) {
  const Transformer& model = scenario.model;
  const std::int64_t chips = scenario.cluster.chips();
  const std::int64_t layers = all_layers(model);
  const std::int64_t heads = std::gcd(model.heads, model.kv_heads);
  SearchSpace space = scenario.search;
  fill(space.tensor, divisors(std::gcd(chips, std::gcd(heads, model.ffn_hidden)), chips));
  fill(space.pipeline, divisors(chips, std::min(layers, most_pipeline_stages)));
  fill(space.virtual_stages, divisors(layers, layers));
  fill(space.context, open_contexts(scenario));
  fill(space.expert,
       model.moe.experts > 0 ? divisors(model.moe.experts, chips) : std::vector<std::int64_t>{1});
  fill(space.zero, {0, 1, 2, 3});
  fill(space.micro_batch, divisors(scenario.training.global_batch, scenario.training.global_batch));
  fill(space.sequence_parallel, {false, true});
  fill(space.context_exchange,
       {ContextExchange::ring, ContextExchange::all_gather, ContextExchange::ulysses});
  fill(space.recompute, {Recompute::none, Recompute::selective, Recompute::full});
  fill(space.schedule,
       {Schedule::gpipe, Schedule::one_f_one_b, Schedule::zero_bubble, Schedule::dual_pipe});
  return space;
}

PlanSpace::PlanSpace(const Scenario& scenario)
    : space_(whole_space(scenario)), base_(scenario.plan), chips_(scenario.cluster.chips()),
      batch_(scenario.training.global_batch), layers_(all_layers(scenario.model)),
      node_chips_(scenario.cluster.partitions.front().node.chips),
      experts_(scenario.model.moe.experts > 0) {
  for (const std::int64_t tensor : space_.tensor) {
    for (const std::int64_t context : space_.context) {
      if (chips_ % (tensor * context) == 0) add_cells(tensor, context);
    }
  }
}

/// Axes that mean nothing without another are not multiplied out: sequence parallelism of one
/// tensor rank, the exchange of one context rank.
void PlanSpace::add_cells(std::int64_t tensor, std::int64_t context) {
  Plan plan = base_;
  plan.pipeline = plan.virtual_stages = 1;
  plan.stage_layers.clear(); // of the given pipeline alone
  plan.zero = 0;
  plan.hybrid_shard = 1;
  plan.tensor = static_cast<int>(tensor);
  plan.context = static_cast<int>(context);
  std::vector<bool> sequence_parallel = space_.sequence_parallel;
  if (tensor == 1) sequence_parallel = {false};
  std::vector<ContextExchange> exchanges = space_.context_exchange;
  if (context == 1) exchanges = {exchanges.front()};
  for (const bool on : sequence_parallel) {
    plan.sequence_parallel = on;
    for (const ContextExchange exchange : exchanges) {
      plan.context_exchange = exchange;
      for (const std::int64_t expert : space_.expert) {
        plan.expert = static_cast<int>(expert);
        std::vector<std::int64_t> widths = space_.expert_tensor;
        if (widths.empty()) widths = {1, tensor};
        if (!experts_) widths = {1};
        if (widths.size() == 2 && widths[0] == widths[1]) widths.pop_back();
        for (const std::int64_t width : widths) {
          plan.expert_tensor = static_cast<int>(width);
          add_cells_of(plan);
        }
      }
    }
  }
}

void PlanSpace::add_cells_of(Plan plan) {
  for (const std::int64_t micro_batch : space_.micro_batch) {
    plan.micro_batch = micro_batch;
    for (const Recompute recompute : space_.recompute) {
      plan.recompute = recompute;
      plan.data = static_cast<int>(chips_ / (std::int64_t{plan.tensor} * plan.context));
      cells_.push_back({plan});
    }
  }
}

/// 0 where the chips or the batch do not come out whole.
std::int64_t PlanSpace::data_of(const PlanCell& cell, std::int64_t pipeline) const {
  const std::int64_t model_chips = std::int64_t{cell.plan.tensor} * cell.plan.context * pipeline;
  if (chips_ % model_chips != 0) return 0;
  const std::int64_t data = chips_ / model_chips;
  return batch_ % (data * cell.plan.micro_batch) == 0 ? data : 0;
}

std::vector<Schedule> PlanSpace::schedules(std::int64_t pipeline) const {
  if (pipeline > 1) return space_.schedule;
  return {Schedule::one_f_one_b}; // means nothing there; the default
}

std::vector<std::int64_t> PlanSpace::virtual_stages_of(std::int64_t pipeline,
                                                       Schedule schedule) const {
  if (pipeline == 1 || schedule != Schedule::one_f_one_b) return {1};
  std::vector<std::int64_t> out;
  for (const std::int64_t chunks : space_.virtual_stages) {
    const std::int64_t places = pipeline * chunks;
    const bool even = layers_ % places == 0 || (layers_ + 2) % places == 0;
    if (chunks == 1 || even) out.push_back(chunks);
  }
  return out;
}

std::vector<PlanSpace::Sharding> PlanSpace::shardings(const Plan& plan) const {
  const std::int64_t ranks = std::int64_t{plan.data} * plan.context;
  if (ranks == 1) return {{}};
  const std::int64_t in_node = node_chips_ / plan.tensor;
  std::vector<std::int64_t> groups = space_.hybrid_shard;
  if (groups.empty()) {
    groups = {1};
    if (in_node > 1 && in_node < ranks && ranks % in_node == 0) groups.push_back(in_node);
  }
  std::vector<Sharding> out;
  for (const std::int64_t zero : space_.zero) {
    for (const std::int64_t group : groups) {
      if (zero == 0 && group != groups.front()) continue;
      out.push_back({static_cast<int>(zero), zero == 0 ? 1 : static_cast<int>(group)});
    }
  }
  return out;
}

std::int64_t PlanSpace::arrangements(const PlanCell& cell) const {
  std::int64_t count = 0;
  visit(cell, [&](const Plan&) { ++count; });
  return count;
}

void adopt(Scenario& scenario, const Plan& plan, std::int64_t vocabulary) {
  scenario.plan = plan;
  scenario.model.vocabulary = padded_vocabulary(vocabulary, plan.tensor);
  scenario.plan.ends_as_layers = ends_should_count(scenario);
}

} // namespace clustersim
