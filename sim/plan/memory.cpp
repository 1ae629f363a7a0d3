#include "plan/memory.hpp"

#include "plan/activations.hpp"

#include <algorithm>
#include <utility>

namespace clustersim {

namespace {

class TermList {
public:
  void add(std::string name, Bytes bytes, std::string sharded_by) {
    if (bytes > Bytes{0}) terms_.push_back({std::move(name), bytes, std::move(sharded_by)});
  }
  [[nodiscard]] Bytes sum() const {
    Bytes total;
    for (const MemoryTerm& term : terms_)
      total += term.bytes;
    return total;
  }
  [[nodiscard]] std::vector<MemoryTerm> take() { return std::move(terms_); }

private:
  std::vector<MemoryTerm> terms_;
};

std::string by_axes(bool tensor, bool data) {
  if (tensor && data) return "tensor × data";
  return tensor ? "tensor" : data ? "data" : "";
}

/// Adam keeps two FP32 moments, SGD one momentum.
double moments(OptimizerKind optimizer) {
  switch (optimizer) {
  case OptimizerKind::adamw:
    return 2.0;
  case OptimizerKind::sgd:
    return 1.0;
  }
  return 2.0;
}

/// Weights, gradients, master weights and moments: 2 + 4 + 4 + 8 bytes per parameter under Adam
/// with BF16 weights and FP32 gradients.
void add_model_states(TermList& terms, const Scenario& scenario, const Shard& shard) {
  const LocalParameters local = local_parameters(scenario);
  const bool tensor = shard.tensor > 1;
  const bool sharded = scenario.plan.zero >= 1 && scenario.plan.data > 1;
  const double owned =
      sharded ? local.total / static_cast<double>(scenario.plan.data) : local.total;
  const Bytes weight = weight_element(scenario);
  const Bytes master = bytes_per_element(scenario.training.master_dtype);
  terms.add("weights", local.total * weight, by_axes(tensor, false));
  if (is_quantised(shard.matmul)) {
    // Both layouts of the quantised layer weights are cached beside the 16-bit ones.
    const double layers = local.per_layer * static_cast<double>(scenario.model.layers);
    terms.add("quantised weights", 2.0 * layers * bytes_per_element(shard.matmul),
              by_axes(tensor, false));
  }
  terms.add("gradients", local.total * gradient_element(scenario), by_axes(tensor, false));
  const Bytes states = moments(scenario.training.optimizer) * bytes_per_element(Precision::fp32) +
                       (weight < master ? master : Bytes{0});
  terms.add("optimizer states", owned * states, by_axes(tensor, sharded));
}

/// A weight gradient that the GEMM does not add into the main gradient exists once by itself, in
/// the main gradient's type.
Bytes loose_weight_gradient(const Scenario& scenario, double weights) {
  return scenario.training.stack.gradient.accumulate_in_gemm ? Bytes{0}
                                                             : weights * gradient_element(scenario);
}

struct Transient {
  std::string name;
  Bytes bytes;
};

/// Between the last layer's forward and backward: logits and loss, then the logits' gradient with
/// the head's weight gradient, whichever is larger.
Transient head_transient(const Scenario& scenario, const Shard& shard) {
  if (!has_vocabulary_head(scenario.model)) return {"logits and loss", Bytes{0}};
  const double logits = elements(shard.tokens, shard.vocabulary);
  const double weights = elements(shard.vocabulary, shard.hidden);
  const Bytes forward = logits * Bytes{scenario.training.stack.head.logit_bytes};
  const Bytes backward = logits * shard.element + loose_weight_gradient(scenario, weights);
  return {"logits and loss", std::max(forward, backward)};
}

Transient layer_transient(const Scenario& scenario, const Shard& shard) {
  return {"layer in backward",
          restored_in_backward(scenario, shard) + gradients_in_flight(scenario, shard) +
              loose_weight_gradient(scenario, local_parameters(scenario).largest_weight)};
}

/// Head and layers are never in backward at the same moment: the larger transient counts.
void add_activations(TermList& terms, const Scenario& scenario, const Shard& shard) {
  const bool tensor = shard.tensor > 1;
  const double tokens_hidden = local_hidden_elements(shard);
  terms.add("activations",
            static_cast<double>(scenario.model.layers) * kept_per_layer(scenario, shard),
            shard.sequence_parallel ? "tensor"
            : tensor                ? "tensor, in part"
                                    : "");
  if (has_vocabulary_head(scenario.model)) {
    const Bytes mask = scenario.training.dropout ? Bytes{1} : Bytes{0};
    terms.add("embedding and final norm", tokens_hidden * (2.0 * shard.element + mask),
              by_axes(shard.sequence_parallel, false));
  }
  const Transient head = head_transient(scenario, shard);
  const Transient layer = layer_transient(scenario, shard);
  const Transient& larger = head.bytes > layer.bytes ? head : layer;
  terms.add(larger.name, larger.bytes, by_axes(tensor, false));
}

/// The gathered input of a column-parallel product, and a bucket where gradients are not reduced
/// where they lie.
void add_buffers(TermList& terms, const Scenario& scenario, const Shard& shard) {
  if (shard.sequence_parallel) {
    terms.add("gathered activations", hidden_payload(shard), "");
  }
  terms.add("workspace", scenario.training.stack.memory.workspace, "");
}

} // namespace

MemoryFootprint memory_footprint(const Scenario& scenario) {
  const Shard shard = shard_of(scenario);
  const Chip::Memory& chip = scenario.chip().memory;
  const Stack::MemoryUse& use = scenario.training.stack.memory;
  TermList terms;
  add_model_states(terms, scenario, shard);
  add_activations(terms, scenario, shard);
  add_buffers(terms, scenario, shard);
  terms.add("fragmentation", use.fragmentation * terms.sum(), "");

  MemoryFootprint footprint;
  footprint.capacity = chip.capacity;
  footprint.usable = chip.usable;
  footprint.reserve = use.framework;
  footprint.peak = terms.sum();
  footprint.terms = terms.take();
  return footprint;
}

} // namespace clustersim
