#include "plan/head.hpp"

#include "plan/layer.hpp"

namespace clustersim {

namespace {

/// A lookup's gradient is a whole dense table, zeroed and then added to; where GEMMs accumulate
/// into the main gradient by themselves, this table still has to be added to it by a kernel of its
/// own.
Bytes table_gradient_traffic(const Scenario& scenario, const Shard& shard) {
  const double weights = elements(shard.vocabulary, table_width(scenario.model));
  const Bytes zeroed = shard.element;
  const Bytes added = shard.element + 2.0 * gradient_element(scenario);
  const bool in_gemm = scenario.training.stack.gradient.accumulate_in_gemm;
  return weights * (in_gemm ? zeroed + added : zeroed);
}

bool is_narrow(const Scenario& scenario) {
  return table_width(scenario.model) != scenario.model.hidden;
}

/// Each rank looked up its part of the vocabulary; the sum over ranks is the embedding.
void append_lookup(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  builder.kernels(Site::embedding, elements(shard.tokens, table_width(scenario.model)));
  const auto kind =
      shard.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const Bytes payload = elements(shard.tokens, table_width(scenario.model)) * shard.element;
  builder.collective(shard.sequence_parallel ? "reduce-scatter after embedding"
                                             : "all-reduce after embedding",
                     tensor_parallel(scenario, kind, payload), Lane::tensor, 0.0);
  if (is_narrow(scenario)) builder.forward(width_projection(scenario, shard, true));
}

void append_lookup_backward(BlockBuilder& builder, const Scenario& scenario, const Shard& shard) {
  if (is_narrow(scenario)) {
    const Linear projection = width_projection(scenario, shard, true);
    builder.data_gradient(projection);
    builder.weight_gradient(projection);
  }
  const Bytes payload = elements(shard.tokens, table_width(scenario.model)) * shard.element;
  if (shard.sequence_parallel) {
    builder.collective("all-gather of embedding gradient",
                       tensor_parallel(scenario, CollectiveKind::all_gather, payload), Lane::tensor,
                       0.0);
  }
  builder.kernels(Site::embedding, elements(shard.tokens, table_width(scenario.model)));
}

/// Two halves of its input, each as wide as the model; its output is gathered.
Linear prediction_projection(const Scenario& scenario, const Shard& shard) {
  const double width = static_cast<double>(scenario.model.hidden);
  return {.name = "projection of prediction module",
          .tokens = shard.tokens,
          .in = 2 * shard.hidden,
          .out = (shard.hidden + shard.tensor - 1) / shard.tensor,
          .precision = shard.matmul,
          .model_flops = linear_flops(shard, 2.0 * width, width),
          .input_elements = 2.0 * local_hidden_elements(shard),
          .output_elements = hidden_elements(shard) / static_cast<double>(shard.tensor)};
}

} // namespace

Linear width_projection(const Scenario& scenario, const Shard& shard, bool inward) {
  const std::int64_t narrow = table_width(scenario.model);
  const double whole =
      2.0 * static_cast<double>(shard.tokens) * elements(narrow, scenario.model.hidden);
  return {.name = inward ? "projection of embedding" : "projection to embedding's width",
          .tokens = shard.local_tokens,
          .in = inward ? narrow : shard.hidden,
          .out = inward ? shard.hidden : narrow,
          .precision = is_quantised(shard.matmul) ? shard.activation : shard.matmul,
          .model_flops = Flops{whole / static_cast<double>(shard.tensor)}};
}

Block embedding_forward(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  append_lookup(builder, scenario, shard);
  if (scenario.model.embedding_norm) builder.kernels(Site::norm, local_hidden_elements(shard));
  return builder.finish("embedding forward");
}

Block embedding_backward(const Scenario& scenario, const Shard& shard, BackwardPart part) {
  BlockBuilder builder(scenario, shard, Phase::backward);
  builder.set_part(part);
  if (scenario.model.embedding_norm) builder.kernels(Site::norm, local_hidden_elements(shard));
  append_lookup_backward(builder, scenario, shard);
  builder.kernel("embedding table gradient", {.kernel_class = KernelClass::elementwise,
                                              .traffic = table_gradient_traffic(scenario, shard),
                                              .vector_flops = Flops{0},
                                              .kernels = 1});
  builder.accumulate_gradients(local_parameters(scenario).embedding);
  return builder.finish("embedding backward");
}

Block decoder_entry_forward(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  if (scenario.model.final_norm) builder.kernels(Site::norm, local_hidden_elements(shard));
  append_lookup(builder, scenario, shard_for_head(scenario, shard));
  return builder.finish("decoder entry forward");
}

Block decoder_entry_backward(const Scenario& scenario, const Shard& shard, BackwardPart part) {
  BlockBuilder builder(scenario, shard, Phase::backward);
  builder.set_part(part);
  append_lookup_backward(builder, scenario, shard_for_head(scenario, shard));
  if (scenario.model.final_norm) builder.kernels(Site::norm, local_hidden_elements(shard));
  return builder.finish("decoder entry backward");
}

Block prediction_entry_forward(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  append_lookup(builder, scenario, shard);
  builder.kernels(Site::norm, 2.0 * local_hidden_elements(shard));
  const auto product = [&] { builder.forward(prediction_projection(scenario, shard)); };
  // Under sequence parallelism each half is gathered first, and every rank keeps its own tokens.
  const double gathered = shard.sequence_parallel ? 2.0 : 1.0;
  builder.tensor_collective("all-gather in prediction module", CollectiveKind::all_gather,
                            gathered * hidden_payload(shard),
                            scenario.training.stack.overlap.tensor,
                            shard.sequence_parallel ? Side::before : Side::after, product);
  return builder.finish("prediction entry forward");
}

Block prediction_entry_backward(const Scenario& scenario, const Shard& shard, BackwardPart part) {
  BlockBuilder builder(scenario, shard, Phase::backward);
  builder.set_part(part);
  const Linear projection = prediction_projection(scenario, shard);
  builder.data_gradient(projection);
  const auto weight = [&] { builder.weight_gradient(projection); };
  const bool sp = shard.sequence_parallel;
  builder.tensor_collective(
      sp ? "reduce-scatter in prediction module" : "all-reduce in prediction module",
      sp ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce, 2.0 * hidden_payload(shard),
      scenario.training.stack.overlap.tensor, Side::before, weight);
  builder.kernels(Site::norm, 2.0 * local_hidden_elements(shard));
  append_lookup_backward(builder, scenario, shard);
  builder.accumulate_gradients(2.0 * elements(shard.hidden, shard.hidden) /
                               static_cast<double>(shard.tensor));
  return builder.finish("prediction entry backward");
}

} // namespace clustersim
