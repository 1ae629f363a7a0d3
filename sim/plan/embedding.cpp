#include "plan/head.hpp"

namespace clustersim {

namespace {

/// A lookup's gradient is a whole dense table, zeroed and then added to; where GEMMs accumulate
/// into the main gradient by themselves, this table still has to be added to it by a kernel of its
/// own.
Bytes table_gradient_traffic(const Scenario& scenario, const Shard& shard) {
  const double weights = elements(shard.vocabulary, shard.hidden);
  const Bytes zeroed = shard.element;
  const Bytes added = shard.element + 2.0 * gradient_element(scenario);
  const bool in_gemm = scenario.training.stack.gradient.accumulate_in_gemm;
  return weights * (in_gemm ? zeroed + added : zeroed);
}

} // namespace

Block embedding_forward(const Scenario& scenario, const Shard& shard) {
  BlockBuilder builder(scenario, shard, Phase::forward);
  const double local = local_hidden_elements(shard);
  builder.kernels(Site::embedding, hidden_elements(shard));
  // Each rank looked up its part of the vocabulary; the sum over ranks is the embedding.
  const auto kind =
      shard.sequence_parallel ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  builder.collective(shard.sequence_parallel ? "reduce-scatter after embedding"
                                             : "all-reduce after embedding",
                     tensor_parallel(scenario, kind, hidden_payload(shard)), Lane::tensor, 0.0);
  if (scenario.model.embedding_norm) builder.kernels(Site::norm, local);
  return builder.finish("embedding forward");
}

Block embedding_backward(const Scenario& scenario, const Shard& shard, BackwardPart part) {
  BlockBuilder builder(scenario, shard, Phase::backward);
  builder.set_part(part);
  const double local = local_hidden_elements(shard);
  if (scenario.model.embedding_norm) builder.kernels(Site::norm, local);
  if (shard.sequence_parallel) {
    builder.collective("all-gather of embedding gradient",
                       tensor_parallel(scenario, CollectiveKind::all_gather, hidden_payload(shard)),
                       Lane::tensor, 0.0);
  }
  builder.kernels(Site::embedding, hidden_elements(shard));
  builder.kernel("embedding table gradient", {.kernel_class = KernelClass::elementwise,
                                              .traffic = table_gradient_traffic(scenario, shard),
                                              .vector_flops = Flops{0},
                                              .kernels = 1});
  builder.accumulate_gradients(local_parameters(scenario).embedding);
  return builder.finish("embedding backward");
}

} // namespace clustersim
