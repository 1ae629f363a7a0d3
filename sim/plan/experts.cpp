#include "plan/experts.hpp"

#include "plan/layer.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {
namespace {

struct ExpertPass {
  BlockBuilder& builder;
  const Scenario& scenario;
  const Shard& shard;
  ExpertShard experts;

  [[nodiscard]] std::int64_t tokens() const {
    if (experts_are_near(scenario)) return shard.tokens;
    return (shard.tokens + shard.tensor - 1) / shard.tensor;
  }
  [[nodiscard]] double copies() const { return elements(experts.sent, shard.hidden); }
  [[nodiscard]] Precision operands() const {
    return is_quantised(shard.matmul) ? shard.activation : shard.matmul;
  }

  /// The router stays in 16 bits or more.
  [[nodiscard]] Linear router() const {
    return {.name = "router",
            .tokens = tokens(),
            .in = shard.hidden,
            .out = scenario.model.moe.experts,
            .precision = operands(),
            .model_flops = linear_flops(shard, static_cast<double>(shard.hidden),
                                        static_cast<double>(scenario.model.moe.experts))};
  }

  /// Softmax and top-k over FP32 scores: read, probabilities written, read again.
  void choose() const {
    const Bytes scores =
        elements(tokens(), scenario.model.moe.experts) * bytes_per_element(Precision::fp32);
    move("routing", 3.0 * scores);
  }

  void move(const char* name, Bytes traffic) const {
    builder.kernel(name, {.kernel_class = KernelClass::elementwise,
                          .traffic = traffic,
                          .vector_flops = Flops{0},
                          .kernels = 1});
  }
  [[nodiscard]] bool deduplicates() const {
    return scenario.plan.expert > 1 && scenario.training.stack.experts.deduplicates;
  }
  /// Rows copied into or out of the order of experts, or added up with their weights on the way.
  /// A deduplicating dispatch reads and writes the tokens themselves.
  void permute(const char* name) const {
    if (deduplicates()) return;
    move(name, (copies() + elements(tokens(), shard.hidden)) * shard.element);
  }
  /// What arrives from all ranks lies by sender, the experts want it by expert.
  void sort(const char* name) const {
    if (scenario.plan.expert == 1) return;
    const double arrived = deduplicates() ? holders(scenario.plan.expert) /
                                                static_cast<double>(scenario.model.moe.top_k)
                                          : 1.0;
    move(name, (1.0 + arrived) * elements(experts.received, shard.hidden) * shard.element);
  }

  /// Of `parts` equal parts of the experts, how many hold one of a token's top_k, if all choices
  /// are equally likely: parts · (1 − Π (1 − (E/parts)/(E − i))).
  [[nodiscard]] double holders(int parts) const {
    const auto all = static_cast<double>(scenario.model.moe.experts);
    double none = 1.0;
    for (std::int64_t i = 0; i < scenario.model.moe.top_k; ++i)
      none *= std::max(1.0 - all / parts / (all - static_cast<double>(i)), 0.0);
    return parts * (1.0 - none);
  }
  [[nodiscard]] Bytes tokens_to(double places) const {
    return places * elements(tokens(), shard.hidden) * shard.element;
  }

  void exchange(const char* name, GroupFamily family, Bytes payload) const {
    Collective collective = expert_parallel(scenario, CollectiveKind::all_to_all, payload);
    collective.family = family;
    builder.collective(name, collective, Lane::expert, scenario.training.stack.overlap.expert);
  }
  void all_to_all(const char* name) const {
    const int ranks = scenario.plan.expert, stride = scenario.plan.expert_tensor;
    if (!deduplicates())
      return exchange(name, {.size = ranks, .stride = stride},
                      tokens_to(static_cast<double>(scenario.model.moe.top_k)));
    // Across nodes on the rails, once a node; inside, once a rank.
    const int inside = scenario.cluster.partitions.front().node.chips / stride;
    if (inside > 1 && ranks > inside && ranks % inside == 0) {
      exchange(name, {.size = ranks / inside, .stride = stride * inside},
               tokens_to(holders(ranks / inside)));
      exchange(name, {.size = inside, .stride = stride}, tokens_to(holders(ranks)));
    } else {
      exchange(name, {.size = ranks, .stride = stride}, tokens_to(holders(ranks)));
    }
  }
  /// Ranks that share an expert's matrices see each other's tokens, and add up their outputs.
  void among_shares(const char* name, CollectiveKind kind) const {
    builder.collective(
        name,
        expert_tensor_parallel(scenario, kind,
                               elements(experts.received, shard.hidden) * shard.element),
        Lane::tensor, 0.0);
  }
  /// Without sequence parallelism every rank goes on with all tokens.
  void gather_tokens(const char* name) const {
    if (shard.sequence_parallel) return;
    builder.collective(name,
                       tensor_parallel(scenario, CollectiveKind::all_gather, hidden_payload(shard)),
                       Lane::tensor, 0.0);
  }

  [[nodiscard]] GemmShape product(std::int64_t m, std::int64_t n, std::int64_t k,
                                  GemmRole role) const {
    return {.m = m,
            .n = n,
            .k = k,
            .batch = experts.experts,
            .precision = shard.matmul,
            .output = shard.activation,
            .role = role,
            .grouped = experts.experts > 1 && !shard.serves, // servers fuse them into one kernel
            .weight = shard.serves ? shard.weight : Bytes{0}};
  }
  [[nodiscard]] Flops flops(bool up) const {
    const MixtureOfExperts& moe = scenario.model.moe;
    const double gates = up && scenario.model.gated_mlp ? 2.0 : 1.0;
    return static_cast<double>(moe.top_k) *
           linear_flops(shard, static_cast<double>(shard.hidden),
                        gates * static_cast<double>(moe.ffn_hidden));
  }
  [[nodiscard]] double intermediate() const { return elements(experts.received, experts.ffn); }

  void quantise(double count) const {
    if (is_quantised(shard.matmul)) builder.kernels(Site::quantise, count);
  }
  void open(std::int64_t out, std::int64_t in) const {
    builder.open_weights(elements(out, in) * static_cast<double>(experts.experts));
  }
  void up_forward() const {
    quantise(elements(experts.received, shard.hidden));
    open(experts.up, shard.hidden);
    builder.gemm("experts, gate and up",
                 product(experts.rows, experts.up, shard.hidden, GemmRole::forward), flops(true));
  }
  void down_forward() const {
    quantise(intermediate());
    open(shard.hidden, experts.ffn);
    builder.gemm("experts, down",
                 product(experts.rows, shard.hidden, experts.ffn, GemmRole::forward), flops(false));
  }
  void backward_of(const char* data, const char* weight, std::int64_t in, std::int64_t out,
                   Flops model_flops) const {
    quantise(elements(experts.received, out));
    open(out, in);
    builder.gemm(data, product(experts.rows, in, out, GemmRole::data_gradient), model_flops);
    builder.weight_product(weight, product(out, in, experts.rows, GemmRole::weight_gradient),
                           model_flops);
  }
};

} // namespace

namespace {

/// Of few tokens not every expert gets one: of E_l experts a share of 1 − (1 − k/E)^T is expected
/// to, and only their weights are read.
void serve_experts(ExpertShard& out, const Scenario& scenario, const Shard& shard, double uneven) {
  const MixtureOfExperts& moe = scenario.model.moe;
  const Plan& plan = scenario.plan;
  const bool near = experts_are_near(scenario);
  if (near) out.sent = shard.tokens * moe.top_k;
  const double group = near ? 1.0 : static_cast<double>(plan.expert) * plan.expert_tensor;
  const double tokens = group * static_cast<double>(out.sent) / static_cast<double>(moe.top_k);
  const double missed =
      std::pow(1.0 - static_cast<double>(moe.top_k) / static_cast<double>(moe.experts), tokens);
  const double hit = static_cast<double>(out.experts) * (1.0 - missed);
  const double copies = tokens * static_cast<double>(moe.top_k) / plan.expert * uneven;
  out.experts = std::max<std::int64_t>(static_cast<std::int64_t>(std::lround(hit)), 1);
  out.rows = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(copies / static_cast<double>(out.experts))), 1);
  out.received = out.rows * out.experts;
}

} // namespace

bool experts_are_near(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  return scenario.serves() && std::int64_t{plan.expert} * plan.expert_tensor <= plan.tensor;
}

ExpertShard expert_shard(const Scenario& scenario, const Shard& shard) {
  const Transformer& model = scenario.model;
  const Plan& plan = scenario.plan;
  const double uneven = model.moe.capacity_factor > 0.0 ? model.moe.capacity_factor
                                                        : scenario.training.expert_imbalance;
  ExpertShard out;
  const std::int64_t tokens = (shard.tokens + shard.tensor - 1) / shard.tensor;
  out.sent = tokens * model.moe.top_k;
  out.experts = model.moe.experts / plan.expert;
  const double all = static_cast<double>(out.sent) * plan.expert_tensor * uneven;
  out.rows = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(all / static_cast<double>(out.experts))), 1);
  out.received = out.rows * out.experts;
  if (shard.serves) serve_experts(out, scenario, shard, uneven);
  out.ffn = (model.moe.ffn_hidden + plan.expert_tensor - 1) / plan.expert_tensor;
  out.up = out.ffn * (model.gated_mlp ? 2 : 1);
  return out;
}

namespace {

/// Experts of a tensor group: each rank works on all tokens with its experts, or its part of every
/// expert, and the outputs are added up.
void append_near_experts(const ExpertPass& pass) {
  pass.builder.forward(pass.router());
  pass.choose();
  pass.permute("permutation of tokens");
  pass.up_forward();
  pass.builder.kernels(Site::activation, pass.intermediate());
  pass.down_forward();
  pass.permute("combination of experts");
  pass.builder.collective(
      "all-reduce after experts",
      tensor_parallel(pass.scenario, CollectiveKind::all_reduce, hidden_payload(pass.shard)),
      Lane::tensor, pass.scenario.training.stack.overlap.tensor);
}

} // namespace

void append_experts_forward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const ExpertPass pass{builder, scenario, shard, expert_shard(scenario, shard)};
  if (experts_are_near(scenario)) return append_near_experts(pass);
  builder.forward(pass.router());
  pass.choose();
  pass.permute("permutation of tokens");
  pass.all_to_all("all-to-all to experts");
  pass.among_shares("all-gather of experts' tokens", CollectiveKind::all_gather);
  pass.sort("sorting by expert");
  pass.up_forward();
  builder.kernels(Site::activation, pass.intermediate());
  pass.down_forward();
  pass.sort("sorting by rank");
  pass.among_shares("reduce-scatter of experts' outputs", CollectiveKind::reduce_scatter);
  pass.all_to_all("all-to-all from experts");
  builder.join(Lane::expert);
  pass.permute("combination of experts");
  pass.gather_tokens("all-gather of combined tokens");
}

void append_experts_backward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const ExpertPass pass{builder, scenario, shard, expert_shard(scenario, shard)};
  pass.permute("combination of experts, backward");
  pass.all_to_all("all-to-all of gradients to experts");
  pass.among_shares("all-gather of experts' gradients", CollectiveKind::all_gather);
  pass.sort("sorting by expert, backward");
  pass.backward_of("experts, down, data gradient", "experts, down, weight gradient",
                   pass.experts.ffn, shard.hidden, pass.flops(false));
  builder.kernels(Site::activation, pass.intermediate());
  pass.backward_of("experts, gate and up, data gradient", "experts, gate and up, weight gradient",
                   shard.hidden, pass.experts.up, pass.flops(true));
  pass.sort("sorting by rank, backward");
  pass.among_shares("reduce-scatter of experts' input gradients", CollectiveKind::reduce_scatter);
  pass.all_to_all("all-to-all of gradients from experts");
  builder.join(Lane::expert);
  pass.permute("permutation of tokens, backward");
  pass.choose();
  builder.data_gradient(pass.router());
  builder.weight_gradient(pass.router());
  pass.gather_tokens("all-gather of token gradients");
}

} // namespace clustersim
