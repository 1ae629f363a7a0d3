#include "plan/trained.hpp"

#include "plan/experts.hpp"
#include "plan/layer.hpp"

#include <algorithm>

namespace clustersim {

namespace {

double weights(const WeightMatrix& matrix) {
  return elements(matrix.in, matrix.out) * static_cast<double>(matrix.count);
}

double edges(const WeightMatrix& matrix) {
  return static_cast<double>((matrix.in + matrix.out) * matrix.count);
}

/// An attention's matrices; the second attention of a decoder has the same.
void add_attention(std::vector<WeightMatrix>& out, const Shard& shard) {
  const std::int64_t hidden = shard.hidden, tensor = shard.tensor;
  const auto column = [&](Matrix place, std::int64_t width) {
    out.push_back({.place = place, .in = hidden, .out = width, .out_parts = tensor});
  };
  column(Matrix::query, shard.query_width);
  column(Matrix::key, shard.key_width);
  column(Matrix::value, shard.value_width);
  out.push_back(
      {.place = Matrix::output, .in = shard.core_width, .out = hidden, .in_parts = tensor});
}

void add_latent_attention(std::vector<WeightMatrix>& out, const LatentAttention& mla,
                          const Shard& shard) {
  const std::int64_t tensor = shard.tensor;
  out.push_back({.place = Matrix::latent, .in = shard.hidden, .out = shard.latent});
  out.push_back({.place = Matrix::query,
                 .in = mla.q_rank > 0 ? mla.q_rank : shard.hidden,
                 .out = shard.query_width,
                 .out_parts = tensor});
  out.push_back({.place = Matrix::key,
                 .in = mla.kv_rank,
                 .out = shard.heads * (mla.nope_dim + mla.value_dim),
                 .out_parts = tensor});
  out.push_back(
      {.place = Matrix::output, .in = shard.core_width, .out = shard.hidden, .in_parts = tensor});
}

/// An MLP of this width on the rank, or `count` of them.
void add_mlp(std::vector<WeightMatrix>& out, bool gated, WeightMatrix first) {
  first.place = Matrix::up;
  if (gated) {
    WeightMatrix gate = first;
    gate.place = Matrix::gate;
    out.push_back(gate);
  }
  out.push_back(first);
  std::swap(first.in, first.out);
  std::swap(first.in_parts, first.out_parts);
  first.place = Matrix::down;
  out.push_back(first);
}

/// LoRA (Hu et al. 2021, arXiv 2106.09685), section 4.1: in × rank and rank × out in place of
/// in × out. Ranks that share the product's columns hold the first factor alike, those that share
/// its rows the second.
void add_adapter(std::vector<WeightMatrix>& out, const WeightMatrix& matrix, std::int64_t rank) {
  out.push_back({.place = matrix.place,
                 .in = matrix.in,
                 .out = rank,
                 .in_parts = matrix.in_parts,
                 .count = matrix.count});
  out.push_back({.place = matrix.place,
                 .in = rank,
                 .out = matrix.out,
                 .out_parts = matrix.out_parts,
                 .count = matrix.count});
}

Held of_kind(const WeightMatrix& matrix, double amount) {
  return matrix.routed ? Held{0.0, amount} : Held{amount, 0.0};
}

} // namespace

std::vector<WeightMatrix> layer_matrices(const Scenario& scenario, const Shard& shard,
                                         LayerKind kind) {
  const Transformer& model = scenario.model;
  std::vector<WeightMatrix> out;
  if (model.mla.kv_rank > 0) {
    add_latent_attention(out, model.mla, shard);
  } else {
    add_attention(out, shard);
  }
  if (kind == LayerKind::cross) add_attention(out, shard);
  if (!has_experts(kind)) {
    add_mlp(out, model.gated_mlp,
            {.in = shard.hidden, .out = shard.ffn, .out_parts = shard.tensor});
    return out;
  }
  const std::int64_t shared = model.moe.shared_ffn_hidden;
  if (shared > 0) {
    add_mlp(out, model.gated_mlp,
            {.in = shard.hidden,
             .out = (shared + shard.tensor - 1) / shard.tensor,
             .out_parts = shard.tensor});
  }
  const ExpertShard experts = expert_shard(scenario, shard);
  add_mlp(out, model.gated_mlp,
          {.in = shard.hidden,
           .out = experts.ffn,
           .out_parts = scenario.plan.expert_tensor,
           .count = experts.experts,
           .routed = true});
  return out;
}

std::vector<WeightMatrix> trained_matrices(const Scenario& scenario, const Shard& shard,
                                           LayerKind kind) {
  const FineTuning& tuning = scenario.training.tuning;
  std::vector<WeightMatrix> all = layer_matrices(scenario, shard, kind);
  if (!tuning.adapts()) return all;
  std::vector<WeightMatrix> out;
  for (const WeightMatrix& matrix : all) {
    if (tuning.adapts(matrix.place) && !matrix.routed) add_adapter(out, matrix, tuning.rank);
  }
  return out;
}

Trained operator+(const Trained& a, const Trained& b) {
  return {a.parameters + b.parameters, a.matrices + b.matrices, a.factors + b.factors,
          a.tensors + b.tensors, a.replicated + b.replicated};
}

Trained operator*(double count, const Trained& each) {
  return {count * each.parameters, count * each.matrices, count * each.factors,
          count * each.tensors, count * each.replicated};
}

Trained trained_in_layer(const Scenario& scenario, LayerKind kind) {
  const Shard shard = shard_of(scenario);
  const bool adapters = scenario.training.tuning.adapts();
  Trained out;
  for (const WeightMatrix& matrix : trained_matrices(scenario, shard, kind)) {
    out.matrices = out.matrices + of_kind(matrix, weights(matrix));
    out.factors = out.factors + of_kind(matrix, edges(matrix));
    out.tensors += static_cast<double>(matrix.count);
    const bool whole = matrix.in_parts == 1 && matrix.out_parts == 1;
    if (adapters && whole) out.replicated += weights(matrix);
  }
  out.parameters = adapters ? out.matrices : local_parameters(scenario).of(kind);
  if (!adapters) {
    const Held vectors = out.rest();
    out.factors = out.factors + Held{std::max(vectors.dense, 0.0), std::max(vectors.experts, 0.0)};
    out.tensors += static_cast<double>(scenario.model.layer_norms);
  }
  return out;
}

Trained trained_in_layers(const Scenario& scenario, const Chunk& chunk) {
  Trained out;
  for (const LayerKind kind : layer_kinds) {
    const auto count = static_cast<double>(layers_of(chunk, kind) - frozen_of(chunk, kind));
    if (count > 0.0) out = out + count * trained_in_layer(scenario, kind);
  }
  return out;
}

namespace {

/// A table factored by its rows and its width.
Trained table(const Scenario& scenario, double parameters) {
  if (parameters <= 0.0) return {};
  const auto width = static_cast<double>(table_width(scenario.model));
  Trained out;
  out.parameters.dense = parameters;
  out.factors.dense = std::min(parameters, parameters / width + width);
  out.tensors = 1.0;
  return out;
}

} // namespace

Trained trained_embedding(const Scenario& scenario, const StageParameters& held) {
  return trains_embedding(scenario) ? table(scenario, held.embedding) : Trained{};
}

Trained trained_head(const Scenario& scenario, const StageParameters& held) {
  if (!trains_head(scenario)) return {};
  Trained out = table(scenario, held.head);
  // A prediction module is a layer with a projection: all of it counts as matrices.
  out.parameters = out.parameters + held.prediction;
  out.matrices = out.matrices + held.prediction;
  out.factors = out.factors + held.prediction;
  return out;
}

Trained trained_in(const Scenario& scenario, const Chunk& chunk) {
  const StageParameters held = parameters_of(scenario, chunk);
  return trained_in_layers(scenario, chunk) + trained_embedding(scenario, held) +
         trained_head(scenario, held);
}

Trained trained_in(const Scenario& scenario, const Stage& stage) {
  Trained out;
  for (const Chunk& chunk : stage)
    out = out + trained_in(scenario, chunk);
  return out;
}

double trained_parameters(const Scenario& scenario) {
  Scenario one_rank = scenario;
  one_rank.plan = {};
  const ParameterCount whole = count_parameters(scenario.model);
  if (scenario.training.tuning.trains_all()) return static_cast<double>(whole.total);
  return trained_in(one_rank, stages_of(one_rank).front()).parameters.total();
}

Held layer_weight_bytes(const Scenario& scenario, LayerKind kind, bool frozen) {
  const FineTuning& tuning = scenario.training.tuning;
  const Shard shard = shard_of(scenario);
  const Held all = local_parameters(scenario).of(kind);
  if (!tuning.adapts() && !frozen) return weight_element(scenario).si() * all;
  Held bytes = shard.element.si() * all;
  if (tuning.base) {
    const double saved = shard.element.si() - base_bytes(tuning);
    for (const WeightMatrix& matrix : layer_matrices(scenario, shard, kind))
      bytes = bytes + of_kind(matrix, -saved * weights(matrix));
  }
  if (frozen) return bytes;
  return bytes + weight_element(scenario).si() * trained_in_layer(scenario, kind).parameters;
}

Held weight_bytes(const Scenario& scenario, const Stage& stage) {
  const double trained = weight_element(scenario).si();
  const double frozen = shard_of(scenario).element.si();
  Held bytes;
  for (const Chunk& chunk : stage) {
    for (const LayerKind kind : layer_kinds) {
      const auto still = static_cast<double>(frozen_of(chunk, kind));
      const double rest = static_cast<double>(layers_of(chunk, kind)) - still;
      if (rest > 0.0) bytes = bytes + rest * layer_weight_bytes(scenario, kind, false);
      if (still > 0.0) bytes = bytes + still * layer_weight_bytes(scenario, kind, true);
    }
    const StageParameters held = parameters_of(scenario, chunk);
    bytes.dense += held.embedding * (trains_embedding(scenario) ? trained : frozen) +
                   held.head * (trains_head(scenario) ? trained : frozen);
    bytes = bytes + (trains_head(scenario) ? trained : frozen) * held.prediction;
  }
  return bytes;
}

Bytes largest_opened(const Scenario& scenario, const Shard& shard, LayerKind kind) {
  if (!scenario.training.tuning.base) return Bytes{0};
  double most = 0.0;
  for (const WeightMatrix& matrix : layer_matrices(scenario, shard, kind))
    most = std::max(most, elements(matrix.in, matrix.out));
  return most * shard.element;
}

} // namespace clustersim
