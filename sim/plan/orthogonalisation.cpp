// Newton-Schulz rounds on X of m × n, m ≤ n (Jordan et al. 2024, Muon):
//   A = X·Xᵀ, B = b·A + c·A·A, X ← a·X + B·X:  2·m²·n + 2·m³ + 2·m²·n FLOP a round.

#include "plan/optimizer.hpp"
#include "plan/trained.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

struct Whole {
  std::int64_t rows = 0, columns = 0; // rows ≤ columns
};

Whole whole(const WeightMatrix& matrix) {
  const std::int64_t in = matrix.in * matrix.in_parts, out = matrix.out * matrix.out_parts;
  return {std::min(in, out), std::max(in, out)};
}

void append_round(BlockBuilder& builder, const Orthogonalisation& rule,
                  const WeightMatrix& matrix) {
  const auto [rows, columns] = whole(matrix);
  const auto product = [&](const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
    builder.gemm(name,
                 {.m = m,
                  .n = n,
                  .k = k,
                  .batch = matrix.count,
                  .precision = rule.precision,
                  .output = rule.precision},
                 Flops{0});
  };
  product("Newton-Schulz, Gram matrix", rows, rows, columns);
  product("Newton-Schulz, square", rows, rows, rows);
  product("Newton-Schulz, step", rows, columns, rows);
  const double moved =
      rule.gram_moves * elements(rows, rows) + rule.matrix_moves * elements(rows, columns);
  builder.kernel(
      "Newton-Schulz, scaling and adding",
      {.kernel_class = KernelClass::elementwise,
       .traffic = static_cast<double>(matrix.count) * moved * bytes_per_element(rule.precision),
       .vector_flops = Flops{0},
       .kernels = 1});
}

/// Ranks of the tensor axis bring their parts of a matrix together.
void append_whole(BlockBuilder& builder, const Scenario& scenario, const Orthogonalisation& rule,
                  const WeightMatrix& matrix) {
  const std::int64_t parts = std::max(matrix.in_parts, matrix.out_parts);
  if (parts <= 1 || matrix.routed) return;
  const auto [rows, columns] = whole(matrix);
  builder.collective("all-gather of momentum",
                     tensor_parallel(scenario, CollectiveKind::all_gather,
                                     elements(rows, columns) * bytes_per_element(rule.precision)),
                     Lane::tensor, 0.0);
}

/// Each data rank has a slice of every momentum, and needs its layers' whole ones.
void append_from_data(BlockBuilder& builder, const Scenario& scenario,
                      const Orthogonalisation& rule, double matrices) {
  if (scenario.plan.zero == 0) return;
  builder.collective("all-gather of momentum",
                     data_parallel(scenario, CollectiveKind::all_gather,
                                   matrices * bytes_per_element(rule.precision), 1),
                     Lane::data, 0.0);
}

} // namespace

std::vector<Repeated> orthogonalisation(const Scenario& scenario, const Shard& shard,
                                        const Stage& stage) {
  const Orthogonalisation& rule = scenario.training.optimizer.orthogonalise;
  std::vector<Repeated> out;
  if (rule.rounds == 0) return out;
  const double shards = sharded_states(scenario).optimizer;
  for (const LayerKind kind : layer_kinds) {
    std::int64_t layers = 0;
    for (const Chunk& chunk : stage)
      layers += layers_of(chunk, kind) - frozen_of(chunk, kind);
    if (layers == 0) continue;
    const auto share = static_cast<std::int64_t>(std::ceil(static_cast<double>(layers) / shards));
    BlockBuilder gather(scenario, shard, Phase::optimizer);
    BlockBuilder round(scenario, shard, Phase::optimizer);
    append_from_data(gather, scenario, rule, trained_in_layer(scenario, kind).matrices.total());
    out.push_back({gather.finish("gather of momentum from data ranks"), layers});
    for (const WeightMatrix& matrix : trained_matrices(scenario, shard, kind)) {
      append_whole(gather, scenario, rule, matrix);
      append_round(round, rule, matrix);
    }
    out.push_back({gather.finish("gather of momentum"), share});
    out.push_back({round.finish("orthogonalisation"), share * rule.rounds});
  }
  return out;
}

} // namespace clustersim
