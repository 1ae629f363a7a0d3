#include "plan/head.hpp"

#include "plan/layer.hpp"

#include <vector>

namespace clustersim {

namespace {

double logits(const Shard& shard) {
  return elements(shard.tokens, shard.vocabulary);
}

/// The head stays in 16 bits when the layers run in fewer.
Linear vocabulary_head(const Scenario& scenario, const Shard& shard) {
  return {.name = "vocabulary head",
          .tokens = shard.tokens,
          .in = table_width(scenario.model),
          .out = shard.vocabulary,
          .precision = is_quantised(shard.matmul) ? shard.activation : shard.matmul,
          .model_flops = linear_flops(shard, static_cast<double>(table_width(scenario.model)),
                                      static_cast<double>(scenario.model.vocabulary))};
}

/// A square product that every rank repeats whole.
Linear replicated(const Scenario& scenario, const Shard& shard, const char* name,
                  std::int64_t tokens) {
  const double width = static_cast<double>(scenario.model.hidden);
  const double whole = 2.0 * static_cast<double>(tokens) * width * width;
  return {.name = name,
          .tokens = tokens,
          .in = shard.hidden,
          .out = shard.hidden,
          .precision = is_quantised(shard.matmul) ? shard.activation : shard.matmul,
          .model_flops = Flops{whole / static_cast<double>(shard.tensor)}};
}

/// Classes of each sequence, or scores of each.
Linear classifier(const Scenario& scenario, const Shard& shard) {
  Linear out = replicated(scenario, shard, "classifier", shard.batch);
  out.in = table_width(scenario.model);
  out.out = scenario.model.sequence_classes;
  const double whole = 2.0 * static_cast<double>(shard.batch) * elements(out.in, out.out);
  out.model_flops = Flops{whole / static_cast<double>(shard.tensor)};
  return out;
}

/// Softmax over a split vocabulary: maximum, target logit and sum of exponentials, FP32 per token.
void reduce_loss(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  Collective sums =
      tensor_parallel(scenario, CollectiveKind::all_reduce,
                      static_cast<double>(shard.tokens) * bytes_per_element(Precision::fp32));
  sums.calls = 3;
  builder.collective("all-reduce of loss", sums, Lane::tensor, 0.0);
}

/// Serving gathers the logits and picks a token on every rank.
void append_sampling(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  const double all = elements(shard.tokens, scenario.model.vocabulary);
  builder.collective("all-gather of logits",
                     tensor_parallel(scenario, CollectiveKind::all_gather, all * shard.element),
                     Lane::tensor, 0.0);
  builder.kernels(Site::loss, all);
}

/// Of the tokens that are scored, all or a piece. A masked-token head gathers them first.
void append_vocabulary_forward(BlockBuilder& builder, const Scenario& scenario,
                               const Shard& shard) {
  const Linear head = vocabulary_head(scenario, shard);
  if (scenario.model.mlm_head) {
    builder.forward(replicated(scenario, shard, "masked-language transform", shard.tokens));
    builder.kernels(Site::activation, hidden_elements(shard));
    builder.kernels(Site::norm, hidden_elements(shard));
  }
  const auto product = [&] { builder.forward(head); };
  if (shard.sequence_parallel) {
    builder.tensor_collective("all-gather before vocabulary head", CollectiveKind::all_gather,
                              hidden_payload(shard), scenario.training.stack.overlap.tensor,
                              Side::before, product);
  } else {
    product();
  }
  if (shard.serves) return append_sampling(builder, scenario, shard);
  builder.kernels(Site::loss, logits(shard));
  reduce_loss(builder, scenario, shard);
}

void append_vocabulary_backward(BlockBuilder& builder, const Scenario& scenario,
                                const Shard& shard) {
  const Stack::Overlap& overlap = scenario.training.stack.overlap;
  const Linear head = vocabulary_head(scenario, shard);
  builder.kernels(Site::loss, logits(shard));
  const bool sp = shard.sequence_parallel;
  const auto data = [&] { builder.data_gradient(head); };
  const auto weight = [&] { builder.weight_gradient(head); };
  if (sp) {
    builder.tensor_collective("all-gather of input of vocabulary head", CollectiveKind::all_gather,
                              hidden_payload(shard), overlap.tensor, Side::before, data);
  } else {
    data();
  }
  builder.tensor_collective(sp ? "reduce-scatter of input gradient of vocabulary head"
                               : "all-reduce of input gradient of vocabulary head",
                            sp ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce,
                            hidden_payload(shard), overlap.tensor_gradient.value_or(overlap.tensor),
                            Side::before, weight);
  if (scenario.model.mlm_head) {
    builder.kernels(Site::norm, hidden_elements(shard));
    builder.kernels(Site::activation, hidden_elements(shard));
    const Linear transform = replicated(scenario, shard, "masked-language transform", shard.tokens);
    builder.data_gradient(transform);
    builder.weight_gradient(transform);
  }
}

/// Each piece but the first adds its gradient of the table to what there is: two read, one written.
void append_sum_of_pieces(BlockBuilder& builder, const Scenario& scenario, const Shard& shard,
                          std::size_t pieces) {
  const bool added = scenario.training.stack.gradient.accumulate_in_gemm;
  if (pieces == 1 || added || !trains_head(scenario)) return;
  const auto sums = static_cast<double>(pieces - 1);
  const double table = elements(shard.vocabulary, table_width(scenario.model));
  builder.kernel("sum of pieces' gradients of vocabulary head",
                 {.kernel_class = KernelClass::elementwise,
                  .traffic = sums * 3.0 * table * shard.element,
                  .vector_flops = Flops{sums * table},
                  .kernels = static_cast<int>(pieces - 1)});
}

} // namespace

Block head_forward(const Scenario& scenario, const Shard& base) {
  const Shard shard = shard_for_head(scenario, base);
  BlockBuilder builder(scenario, shard, Phase::forward);
  if (scenario.model.final_norm) builder.kernels(Site::norm, local_hidden_elements(shard));
  const Transformer& model = scenario.model;
  if (table_width(model) != model.hidden) {
    builder.forward(width_projection(scenario, shard, false));
  }
  if (has_vocabulary_head(model)) {
    if (trains_head(scenario)) builder.cast_weights(local_parameters(scenario).head);
    for (const Shard& piece : scored_pieces(scenario, shard))
      append_vocabulary_forward(builder, scenario, piece);
  }
  if (model.pooler) builder.forward(replicated(scenario, shard, "pooler", shard.batch));
  if (model.sequence_classes > 0) builder.forward(classifier(scenario, shard));
  return builder.finish("head forward");
}

Block head_backward(const Scenario& scenario, const Shard& base, BackwardPart part) {
  const Shard shard = shard_for_head(scenario, base);
  BlockBuilder builder(scenario, shard, Phase::backward);
  builder.set_part(part);
  if (!trains_head(scenario)) builder.set_weights(WeightUse::frozen);
  const auto both_gradients = [&](const Linear& linear) {
    builder.data_gradient(linear);
    builder.weight_gradient(linear);
  };
  if (scenario.model.sequence_classes > 0) both_gradients(classifier(scenario, shard));
  if (scenario.model.pooler) {
    both_gradients(replicated(scenario, shard, "pooler", shard.batch));
  }
  if (has_vocabulary_head(scenario.model)) {
    const std::vector<Shard> pieces = scored_pieces(scenario, shard);
    for (const Shard& piece : pieces)
      append_vocabulary_backward(builder, scenario, piece);
    append_sum_of_pieces(builder, scenario, shard, pieces.size());
  }
  if (table_width(scenario.model) != scenario.model.hidden) {
    both_gradients(width_projection(scenario, shard, false));
  }
  if (scenario.model.final_norm) builder.kernels(Site::norm, local_hidden_elements(shard));
  const double parameters = trains_head(scenario) ? local_parameters(scenario).head : 0.0;
  builder.cast_weights(parameters);
  builder.accumulate_gradients(parameters);
  return builder.finish("head backward");
}

} // namespace clustersim
