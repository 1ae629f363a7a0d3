#include "plan/memory.hpp"

#include "plan/activations.hpp"
#include "plan/context_exchange.hpp"
#include "plan/experts.hpp"
#include "plan/memory_states.hpp"
#include "plan/memory_terms.hpp"
#include "plan/offload.hpp"
#include "plan/reduction.hpp"
#include "plan/stage.hpp"
#include "plan/trained.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace clustersim {

namespace {

/// Everything that the terms of one stage follow from.
struct StageView {
  const Scenario& scenario;
  const Shard& shard;
  const Stage& stage;
  std::size_t index;
  Trained trained;
  ShardedStates sharded;

  /// Layers with experts hold more than dense ones.
  [[nodiscard]] LayerKind widest_kind() const {
    LayerKind widest = LayerKind::dense;
    for (const LayerKind kind : {LayerKind::window_dense, LayerKind::cross,
                                 LayerKind::window_experts, LayerKind::experts}) {
      const auto has = [kind](const Chunk& chunk) { return layers_of(chunk, kind) > 0; };
      if (std::ranges::any_of(stage, has)) widest = kind;
    }
    return widest;
  }
  [[nodiscard]] bool has_head() const {
    return std::ranges::any_of(stage, [](const Chunk& chunk) { return chunk.head; });
  }
  [[nodiscard]] std::string weight_axes(double zero) const {
    return by_axes({{shard.tensor > 1, "tensor"},
                    {scenario.plan.pipeline > 1, "pipeline"},
                    {zero > 1.0, "data"}});
  }
};

/// Whether the gradients of a whole backward pass lie beside the main ones before they are added.
bool keeps_fresh_gradients(const Scenario& scenario, const Shard& shard) {
  const Stack::Gradient& gradient = scenario.training.stack.gradient;
  return gradient.kept_until_pass_ends && !gradient.accumulate_in_gemm &&
         gradient_element(scenario) != shard.element;
}

/// Both layouts of the quantised layer weights are cached beside the 16-bit ones; of frozen weights
/// the one that is stored is all there is.
Bytes quantised_copies(const StageView& view) {
  const bool trained = !view.scenario.training.tuning.adapts();
  if (!is_quantised(view.shard.matmul) || !trained) return Bytes{0};
  return 2.0 *
         sharded(view.scenario, parameters_of(view.scenario, view.stage).in_layers,
                 &ShardedStates::weights) *
         bytes_per_element(view.shard.matmul);
}

/// Weights, gradients, master weights and moments: 2 + 4 + 4 + 8 bytes per parameter under Adam
/// with BF16 weights and FP32 gradients; ZeRO divides the last two, the gradients too, or all. What
/// is frozen has weights alone.
void add_model_states(TermList& terms, const StageView& view) {
  const Scenario& scenario = view.scenario;
  const ShardedStates& over = view.sharded;
  const Held weights = weight_bytes(scenario, view.stage);
  if (!brings_parameters(scenario)) {
    terms.add("weights", Bytes{sharded(scenario, weights, &ShardedStates::weights)},
              view.weight_axes(over.weights));
  }
  terms.add("quantised weights", quantised_copies(view), view.weight_axes(over.weights));
  if (!keeps_gradients_on_host(scenario)) {
    terms.add("gradients",
              sharded(scenario, view.trained.parameters, &ShardedStates::gradients) *
                  gradient_element(scenario),
              view.weight_axes(over.gradients));
  }
  if (keeps_fresh_gradients(scenario, view.shard)) {
    terms.add("fresh gradients", view.trained.parameters.total() * view.shard.element,
              view.weight_axes(1.0));
  }
  if (!updates_on_host(scenario)) {
    terms.add("optimizer states", optimizer_state_bytes(scenario, view.trained),
              view.weight_axes(over.optimizer));
  }
}

/// What ZeRO keeps whole for a while: the layer at work and the one gathered ahead of it, embedding
/// and head from forward to backward, and the gradients of a layer until they are scattered.
void add_gathered(TermList& terms, const StageView& view) {
  const Scenario& scenario = view.scenario;
  const LayerKind kind = view.widest_kind();
  const StageParameters held = parameters_of(scenario, view.stage);
  const double ends = held.embedding + held.head;
  if (view.sharded.weights > 1.0 || brings_parameters(scenario)) {
    const double layers = std::min(held.layers, 2.0);
    const Bytes layer{layer_to_gather(scenario, kind, false).total()};
    terms.add("gathered layers", layers * layer + ends * view.shard.element, view.weight_axes(1.0));
  }
  if (view.sharded.gradients > 1.0 || keeps_gradients_on_host(scenario)) {
    const Bytes bucket{scenario.training.stack.overlap.bucket};
    const double per_layer = trained_in_layer(scenario, kind).parameters.total();
    const double trained_ends = (trains_embedding(scenario) ? held.embedding : 0.0) +
                                (trains_head(scenario) ? held.head : 0.0);
    const Bytes whole = std::max(per_layer, trained_ends) * gradient_element(scenario);
    terms.add("gradients before scattering",
              scenario.plan.zero == 2 ? std::max(whole, bucket) : whole, view.weight_axes(1.0));
  }
}

/// A weight gradient that the GEMM does not add into the main gradient exists once by itself, in
/// the main gradient's type.
Bytes loose_weight_gradient(const Scenario& scenario, const Shard& shard, double weights) {
  const bool apart = !scenario.training.stack.gradient.accumulate_in_gemm &&
                     !keeps_fresh_gradients(scenario, shard);
  return apart ? weights * gradient_element(scenario) : Bytes{0};
}

struct Transient {
  std::string name;
  Bytes bytes;
};

/// Between the last layer's forward and backward: logits and loss, then the logits' gradient with
/// the head's weight gradient, whichever is larger.
Transient head_transient(const Scenario& scenario, const Shard& base) {
  if (!has_vocabulary_head(scenario.model)) return {"logits and loss", Bytes{0}};
  const Shard shard = shard_for_head(scenario, base);
  // All predictions have their losses before the first goes backward.
  const std::vector<Shard> pieces = scored_pieces(scenario, shard);
  const double heads =
      pieces.size() == 1 ? static_cast<double>(1 + scenario.model.mtp_layers) : 1.0;
  const double logits = heads * elements(pieces.front().tokens, shard.vocabulary);
  const double weights = elements(shard.vocabulary, table_width(scenario.model));
  const Bytes forward = logits * Bytes{scenario.training.stack.head.logit_bytes};
  const Bytes backward =
      logits * shard.element +
      (trains_head(scenario) ? loose_weight_gradient(scenario, shard, weights) : Bytes{0});
  return {"logits and loss", std::max(forward, backward)};
}

/// Layers whose activations are back at once.
std::int64_t group_of(const Plan& plan, const Chunk& chunk) {
  const bool groups =
      plan.recompute == Recompute::full && plan.recompute_method == RecomputeMethod::uniform;
  return groups ? std::min(plan.recompute_layers, chunk.layers) : 1;
}

/// What a micro-batch keeps of a chunk: layers that are not recomputed, and of the others what
/// recompute starts from.
struct KeptLayers {
  Bytes whole, reduced;
};
KeptLayers kept_layers(const Scenario& scenario, const Shard& shard, const Chunk& chunk) {
  KeptLayers kept;
  for (const LayerKind kind : layer_kinds) {
    const std::int64_t count = layers_of(chunk, kind) - frozen_of(chunk, kind);
    const std::int64_t again = recomputed_of(chunk, kind);
    if (count > again) {
      kept.whole += static_cast<double>(count - again) *
                    kept_per_layer(scenario, shard, kind, Recompute::none);
    }
    if (again > 0)
      kept.reduced += static_cast<double>(again) * kept_per_layer(scenario, shard, kind);
  }
  const std::int64_t group = group_of(scenario.plan, chunk);
  if (group > 1) {
    std::int64_t layers = 0;
    for (const LayerKind kind : layer_kinds)
      layers += recomputed_of(chunk, kind);
    const std::int64_t groups = (layers + group - 1) / group;
    kept.reduced = static_cast<double>(groups) * layer_input(shard);
  }
  return kept;
}

/// Layers run backward last to first: those that are kept whole are gone when the first one that is
/// computed again comes back.
Bytes restored_layers(const StageView& view, LayerKind kind) {
  Bytes most;
  for (const Chunk& chunk : view.stage) {
    if (recomputed_of(chunk, kind) == 0) continue;
    const Bytes back =
        restored_in_backward(view.scenario, view.shard, kind, group_of(view.scenario.plan, chunk));
    most = std::max(most, back - kept_layers(view.scenario, view.shard, chunk).whole);
  }
  return most;
}

double widest_adapter(const Scenario& scenario, const Shard& shard, LayerKind kind) {
  double most = 0.0;
  for (const WeightMatrix& matrix : trained_matrices(scenario, shard, kind))
    most = std::max(most, elements(matrix.in, matrix.out));
  return most;
}

Transient layer_transient(const StageView& view) {
  const Scenario& scenario = view.scenario;
  const LayerKind kind = view.widest_kind();
  const LocalParameters local = local_parameters(scenario);
  // Grouped products add one expert after the other.
  const double one_expert =
      has_experts(kind) ? elements(view.shard.hidden, expert_shard(scenario, view.shard).up) : 0.0;
  const double widest = scenario.training.tuning.adapts()
                            ? widest_adapter(scenario, view.shard, kind)
                            : std::max(local.largest_weight, one_expert);
  return {"layer in backward", restored_layers(view, kind) +
                                   gradients_in_flight(scenario, view.shard, kind) +
                                   loose_weight_gradient(scenario, view.shard, widest) +
                                   largest_opened(scenario, view.shard, kind)};
}

/// Micro-batches that each chunk holds when the stage holds most.
std::vector<double> layers_in_flight(const StageView& view) {
  const std::optional<PipelineSchedule> schedule = schedule_of(view.scenario);
  if (!schedule) return {1.0};
  std::vector<double> weights;
  for (const Chunk& chunk : view.stage)
    weights.push_back(static_cast<double>(chunk.layers));
  const std::vector<std::int64_t> held =
      in_flight(*schedule, static_cast<int>(view.index), weights);
  return {held.begin(), held.end()};
}

/// Beside the layers: the encoder's output, kept by every stage that has decoder layers, and what
/// prediction modules keep: two operands of their projection and a layer each.
Bytes other_tensors(const StageView& view, const Chunk& chunk) {
  const Scenario& scenario = view.scenario;
  Bytes kept;
  if (layers_of(chunk, LayerKind::cross) > 0) {
    kept += local_hidden_elements(view.shard) * view.shard.element;
  }
  if (chunk.head && scenario.model.mtp_layers > 0) {
    const Bytes operands = 4.0 * local_hidden_elements(view.shard) * view.shard.element;
    const LayerKind kind = kind_of(scenario, scenario.model.layers - 1);
    kept += static_cast<double>(scenario.model.mtp_layers) *
            (operands + kept_per_layer(scenario, view.shard, kind));
  }
  return kept;
}

/// What the layers of a stage keep for all micro-batches that it holds at once.
Bytes all_kept(const StageView& view, const std::vector<double>& held) {
  Bytes layers;
  for (std::size_t i = 0; i < view.stage.size(); ++i) {
    const KeptLayers kept = kept_layers(view.scenario, view.shard, view.stage[i]);
    layers += held[i] * (kept.whole + kept.reduced + other_tensors(view, view.stage[i]));
  }
  return layers;
}

/// Activations of all micro-batches that the stage holds at once. Head and layers are never in
/// backward at the same moment: the larger transient counts.
void add_activations(TermList& terms, const StageView& view) {
  const Scenario& scenario = view.scenario;
  const Shard& shard = view.shard;
  const double tokens_hidden = local_hidden_elements(shard);
  const std::vector<double> held = layers_in_flight(view);
  Bytes layers = all_kept(view, held);
  double ends = 0.0;
  for (std::size_t i = 0; i < view.stage.size(); ++i) {
    if (has_vocabulary_head(scenario.model)) {
      const Bytes mask = scenario.training.dropout ? Bytes{1} : Bytes{0};
      if (view.stage[i].embedding) ends += held[i] * (shard.element + mask).si();
      if (view.stage[i].head) ends += shard.element.si(); // the head follows its forward at once
    }
  }
  const bool split = shard.tensor > 1;
  if (scenario.plan.offload.activations != Tier::chip) {
    // The layer at work and the one on its way.
    layers = std::min(layers, 2.0 * kept_per_layer(scenario, shard, view.widest_kind()));
  }
  terms.add("activations", layers,
            by_axes({{split, shard.sequence_parallel ? "tensor" : "tensor, in part"},
                     {scenario.plan.context > 1, "context"},
                     {scenario.plan.pipeline > 1, "pipeline"}}));
  terms.add("embedding and final norm", tokens_hidden * Bytes{ends},
            by_axes({{shard.sequence_parallel, "tensor"}, {scenario.plan.context > 1, "context"}}));
  const Transient head =
      view.has_head() ? head_transient(scenario, shard) : Transient{"logits and loss", Bytes{0}};
  const Transient layer = layer_transient(view);
  const Transient& larger = head.bytes > layer.bytes ? head : layer;
  terms.add(larger.name, larger.bytes,
            by_axes({{split, "tensor"}, {scenario.plan.context > 1, "context"}}));
}

/// The gathered input of a column-parallel product, and a bucket where gradients are not reduced
/// where they lie.
void add_buffers(TermList& terms, const StageView& view) {
  if (view.shard.sequence_parallel) {
    // In backward the input and the output's gradient of a product are there whole at once.
    terms.add("gathered activations", 2.0 * hidden_payload(view.shard),
              by_axes({{view.scenario.plan.context > 1, "context"}}));
  }
  terms.add("exchanged keys and values", exchange_buffer(view.scenario, view.shard),
            by_axes({{view.shard.tensor > 1, "tensor"}}));
  if (view.scenario.plan.pipeline > 1) {
    // One hidden state and one gradient on their way in or out.
    const bool both = view.scenario.model.decoder_layers > 0;
    const double sent =
        local_hidden_elements(view.shard) +
        (both ? local_hidden_elements(shard_for_head(view.scenario, view.shard)) : 0.0);
    terms.add("pipeline buffers", 2.0 * sent * view.shard.element,
              by_axes({{view.shard.sequence_parallel, "tensor"}}));
  }
  terms.add("workspace", view.scenario.training.stack.memory.workspace, "");
}

/// Of all chips of a host; a chip's where a stage keeps most.
void add_outside(MemoryFootprint& footprint, const StageView& view) {
  if (!view.scenario.plan.offload.any()) return;
  const Outside outside =
      kept_outside(view.scenario, view.stage, view.trained, all_kept(view, layers_in_flight(view)));
  const double chips = view.scenario.partition().node.chips_of_host();
  footprint.host = std::max(footprint.host, chips * outside.host);
  footprint.drives = std::max(footprint.drives, chips * outside.drives);
}

StageMemory stage_memory(const StageView& view) {
  TermList terms;
  add_model_states(terms, view);
  add_gathered(terms, view);
  add_activations(terms, view);
  add_buffers(terms, view);
  StageMemory out;
  out.peak = terms.sum();
  out.terms = terms.take();
  return out;
}

} // namespace

Bytes MemoryFootprint::margin() const {
  Bytes least = usable - reserve - peak;
  if (host_capacity > Bytes{0} && host > host_capacity)
    least = std::min(least, host_capacity - host);
  if (drive_capacity > Bytes{0} && drives > drive_capacity) {
    least = std::min(least, drive_capacity - drives);
  }
  return least;
}

namespace {

MemoryFootprint footprint_of(const Scenario& scenario, std::size_t most_stages) {
  const Shard shard = shard_of(scenario);
  const Chip::Memory& chip = scenario.chip().memory;
  MemoryFootprint footprint;
  footprint.capacity = chip.capacity;
  footprint.usable = chip.usable;
  const Node::Host& host = scenario.partition().node.host;
  footprint.host_capacity = host.capacity;
  footprint.drive_capacity = host.nvme_capacity;
  const std::vector<Stage> stages = stages_of(scenario);
  for (std::size_t i = 0; i < std::min(stages.size(), most_stages); ++i) {
    const StageView view{
        scenario, shard, stages[i], i, trained_in(scenario, stages[i]), sharded_states(scenario)};
    StageMemory one = stage_memory(view);
    add_outside(footprint, view);
    if (i == 0 || one.peak > footprint.peak) {
      footprint.peak = one.peak;
      footprint.terms = one.terms;
    }
    footprint.stages.push_back(std::move(one));
  }
  const Stack::MemoryUse& use = scenario.training.stack.memory;
  footprint.cached = use.fragmentation * footprint.peak;
  footprint.reserve = use.framework + footprint.cached;
  return footprint;
}

} // namespace

MemoryFootprint memory_footprint(const Scenario& scenario) {
  return footprint_of(scenario, std::numeric_limits<std::size_t>::max());
}

MemoryFootprint first_stage_footprint(const Scenario& scenario) {
  return footprint_of(scenario, 1);
}

} // namespace clustersim
