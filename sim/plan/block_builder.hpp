#pragma once
// Writes the operators of one block. All knowledge of a kernel's bytes is the recipe's, all
// knowledge of a GEMM's shape the caller's; what is added here are the rules that every layer
// shares.

#include "plan/shard.hpp"
#include "plan/step_program.hpp"
#include "spec/placement.hpp"

#include <functional>
#include <string>
#include <vector>

namespace clustersim {

/// A matrix product with weights, y[tokens × out] = x[tokens × in] · W, as one rank sees it.
struct Linear {
  std::string name; // "qkv projection"
  std::int64_t tokens = 0, in = 0, out = 0;
  Precision precision = Precision::bf16;
  bool stored_narrow = false; // serving: a layer's matrix, in the format of the stored weights
  Flops model_flops;          // of the forward product; each of the two backward ones has as many
  double input_elements = 0;  // held by this rank: what quantising the operand reads, forward
  double output_elements = 0; // the same of the output's gradient, backward
  // Of a layer: the matrices that stand side by side in it, and how many ranks share rows and
  // columns.
  struct Part {
    Matrix place = Matrix::query;
    std::int64_t width = 0;
  };
  std::vector<Part> parts{};
  std::int64_t in_parts = 1, out_parts = 1;
};

/// What becomes of the weights in a block: trained; frozen; frozen with adapters beside them.
enum class WeightUse { trained, frozen, adapted };

/// Where a collective stands when nothing hides it: before or after the GEMM next to it.
enum class Side { before, after };

/// Which part of a backward pass is written: zero-bubble schedules run the weights' gradients by
/// themselves.
enum class BackwardPart { whole, inputs, weights };

class BlockBuilder {
public:
  BlockBuilder(const Scenario& scenario, const Shard& shard, Phase phase)
      : scenario_(&scenario), shard_(&shard), phase_(phase) {}

  /// Recompute counts no model FLOPs.
  void set_phase(Phase phase) { phase_ = phase; }
  [[nodiscard]] Phase phase() const { return phase_; }
  void set_part(BackwardPart part) { part_ = part; }
  void set_weights(WeightUse use) { use_ = use; }
  [[nodiscard]] WeightUse weights() const { return use_; }

  void forward(const Linear& linear);
  /// Opens frozen weights that are stored in a narrower format.
  void open_weights(double weights);
  void data_gradient(const Linear& linear);
  void weight_gradient(const Linear& linear);
  void gemm(std::string name, const GemmShape& shape, Flops model_flops);
  /// A weight gradient given as a shape: its output's type and accumulation are the stack's.
  void weight_product(std::string name, GemmShape shape, Flops model_flops);
  void attention(std::string name, const AttentionShape& shape, Flops model_flops);

  /// The recipe's kernels at a site whose tensor has `elements` elements on this rank; `launches`
  /// of each, for tensors that are many parameters.
  void kernels(Site site, double elements, int launches = 1);
  /// Adds `parameters` fresh gradients into the main gradient, unless their GEMMs did or, with one
  /// micro-batch and one type for both, they are the main gradient.
  void accumulate_gradients(double parameters, int launches = 1);
  /// Autocast's copies of FP32 weights, and of their gradients on the way back.
  void cast_weights(double parameters, int launches = 1);
  void kernel(std::string name, const MemoryKernel& kernel);

  /// Nothing when the axis has one rank or there is nothing to send.
  void collective(std::string name, const Collective& collective, Lane lane, double hidden);
  void join(Lane lane);
  /// On the host's lane, the share `hidden` beside other work.
  void host_work(std::string name, HostWork work, double hidden);
  /// The chip waits for it.
  void host_update(std::string name, HostWork work);

  /// A tensor-parallel collective next to a GEMM. Stacks that hide it cut both into chunks, so the
  /// pair starts together and ends with the slower; otherwise one follows the other.
  void tensor_collective(const std::string& name, CollectiveKind kind, Bytes payload, double hidden,
                         Side side, const std::function<void()>& gemm);

  [[nodiscard]] Block finish(std::string name);

private:
  void append(std::string name, Work work, Flops model_flops);
  /// Calls visit(part, its name) for every adapter of the product.
  void for_adapters(const Linear& linear,
                    const std::function<void(const Linear::Part&, const std::string&)>& visit);
  void trained_product(std::string name, GemmShape shape, Flops model_flops);
  void adapters_forward(const Linear& linear);
  void adapters_data(const Linear& linear);
  void adapters_weight(const Linear& linear);
  [[nodiscard]] bool adds_in_gemm() const;
  /// Whether the part that is written has this work.
  [[nodiscard]] bool writes(bool of_weights) const {
    return part_ == BackwardPart::whole || (part_ == BackwardPart::weights) == of_weights;
  }

  const Scenario* scenario_;
  const Shard* shard_;
  Phase phase_;
  BackwardPart part_ = BackwardPart::whole;
  WeightUse use_ = WeightUse::trained;
  bool of_weights_ = false; // what is being appended
  std::vector<Op> ops_;
};

/// The groups of an axis on the cluster, by the plan's placement (docs/explanation/placement.md).
/// All but those that hold the same weights lie inside the partition that the scenario looks from.
[[nodiscard]] GroupFamily group_family(const Scenario& scenario, GroupKind kind, int step = 1,
                                       int count = 0);

/// A collective of an axis.
[[nodiscard]] Collective tensor_parallel(const Scenario& scenario, CollectiveKind kind,
                                         Bytes payload);
[[nodiscard]] Collective context_parallel(const Scenario& scenario, CollectiveKind kind,
                                          Bytes payload);
/// Ranks that deal the experts out, and ranks that share one expert's matrices.
[[nodiscard]] Collective expert_parallel(const Scenario& scenario, CollectiveKind kind,
                                         Bytes payload);
[[nodiscard]] Collective expert_tensor_parallel(const Scenario& scenario, CollectiveKind kind,
                                                Bytes payload);
/// Over all ranks that hold the same dense weights: data and context together.
[[nodiscard]] Collective data_parallel(const Scenario& scenario, CollectiveKind kind, Bytes payload,
                                       int calls);
/// Every stage to the next.
[[nodiscard]] Collective to_next_stage(const Scenario& scenario, Bytes payload);

} // namespace clustersim
