#pragma once
// A fully resolved question: cluster × model × training × plan. Everything downstream is a pure
// function of this value.

#include "base/diagnostic.hpp"
#include "spec/cluster.hpp"
#include "spec/optimizer.hpp"
#include "spec/search_space.hpp"
#include "spec/stack.hpp"
#include "spec/transformer.hpp"
#include "spec/tuning.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

/// What backward computes again: nothing, the attention core, everything but the outputs of every
/// other product and of the core (torchtitan's per-operator policy), or whole layers.
enum class Recompute { none, selective, operators, full };
/// Full recompute of all layers in groups that keep one input each, or of the first layers of each
/// stage alone (Megatron-LM --recompute-method).
enum class RecomputeMethod { uniform, block };
/// In which order a pipeline stage works (docs/explanation/pipeline.md). 1F1B with virtual stages
/// is the interleaved schedule.
enum class Schedule { gpipe, one_f_one_b, zero_bubble, dual_pipe };
/// How the ranks that share a sequence see each other's keys and values.
enum class ContextExchange { ring, all_gather, ulysses };

/// As a scenario spells them.
[[nodiscard]] std::string_view spelled(Recompute recompute);
[[nodiscard]] std::string_view spelled(Schedule schedule);
[[nodiscard]] std::string_view spelled(ContextExchange exchange);
[[nodiscard]] std::string_view spelled(Tier tier);
/// How a plan splits the work.
enum class Axis { tensor, context, expert, data, pipeline };
[[nodiscard]] std::string_view name_of(Axis axis);

/// The order in which axes count through the chips, the fastest first (spec/placement.hpp).
using Placement = std::array<Axis, 5>;
inline constexpr Placement usual_placement{Axis::tensor, Axis::context, Axis::expert, Axis::data,
                                           Axis::pipeline};
/// Whole replicas side by side: what unlike partitions need, since no replica spans two of them.
inline constexpr Placement replica_placement{Axis::tensor, Axis::context, Axis::expert,
                                             Axis::pipeline, Axis::data};

struct Training {
  std::int64_t sequence = 0;         // of the encoder where there are both
  std::int64_t decoder_sequence = 0; // of an encoder-decoder
  std::int64_t global_batch = 0;     // sequences per optimizer step
  Precision precision = Precision::bf16;
  std::optional<Precision> gradient_precision; // of products that make gradients, where it differs
  Optimizer optimizer;
  Precision gradient_dtype = Precision::fp32;
  Precision master_dtype = Precision::fp32;
  bool dropout = false;
  double expert_imbalance = 1.0;        // tokens of the busiest rank's experts / the mean
  std::int64_t masked_tokens = 0;       // of a sequence, that a masked-token head scores; 0 = all
  std::optional<std::int64_t> document; // tokens of each of the documents packed in a sequence
  std::int64_t loss_chunks = 1;         // pieces of a micro-batch that have logits one at a time
  FineTuning tuning;
  Stack stack;
  std::optional<double> tokens; // of the whole run
};

struct Plan {
  int tensor = 1, pipeline = 1, data = 1, context = 1, expert = 1;
  int expert_tensor = 1;  // ranks that share one expert's matrices
  int virtual_stages = 1; // chunks of layers per pipeline stage
  Schedule schedule = Schedule::one_f_one_b;
  bool ends_as_layers = false; // embedding and head take a layer's place when layers are shared out
  ContextExchange context_exchange = ContextExchange::ring;
  bool sequence_parallel = false;
  int zero = 0;
  int hybrid_shard = 1; // ranks that ZeRO shards over, replicated beyond; 1 = all of them
  std::int64_t micro_batch = 1;
  Recompute recompute = Recompute::none;
  RecomputeMethod recompute_method = RecomputeMethod::uniform;
  std::int64_t recompute_layers = 1; // of a group, or of each chunk of layers under block
  Placement placement = usual_placement;
  std::vector<std::int64_t> stage_layers; // of each stage and chunk; empty: shared out evenly
  Offload offload;
};

/// Serving in place of training: `batch` sequences at a time on each copy of the model. Lowering
/// reads the same Training (its sequence, precision and stack are filled from here) and Plan.
struct Inference {
  std::int64_t batch = 0; // 0: a scenario of training
  std::int64_t prompt = 0, output = 0;
  std::int64_t chunk = 8192;             // tokens of one prefill pass, at most
  Precision precision = Precision::bf16; // of matrix products
  Precision weights = Precision::bf16;   // as the layers' matrices are stored
  std::int64_t weight_group = 128;       // 4-bit weights that share a 16-bit scale
  Precision kv_cache = Precision::bf16;  // as keys and values are stored
  LaunchMode launch = LaunchMode::graph; // of decode; prefill is launched as the stack says
};

struct PowerLimits {
  std::optional<Watts> cap; // per chip
  double pue = 1.0;
};

struct Prices {
  std::optional<DollarsPerJoule> electricity;
};

/// Where a value of the resolved input came from; the report echoes all of them.
enum class Origin { file, command_line, default_value, catalogue, inferred, calibration };

struct ResolvedValue {
  std::string key;  // "plan.tensor", "chip.h100-sxm5-80gb.memory.bandwidth"
  std::string text; // "8", "3.35 TB/s"
  std::string unit; // SI unit of `number`, empty for text
  std::optional<double> number;
  Origin origin = Origin::default_value;
  std::string where;  // "configs/dgx_h100.toml:14", "--set", or the default's reason
  std::string source; // citation, for catalogue facts
  std::string date{}; // of the fact, where it ages (prices)
  std::string note{};
  std::string fitted{}; // "time" or "memory": a stack's scalar set on measured runs
};

struct Scenario {
  std::string path, title;
  Cluster cluster;
  Transformer model;
  Training training;
  Plan plan;
  Inference inference;
  SearchSpace search;
  PowerLimits power;
  Prices prices;
  std::vector<ResolvedValue> inputs;    // sorted by key
  std::vector<std::string> assumptions; // sentences
  std::vector<std::string> warnings;

  std::size_t seen_from = 0; // the partition whose replicas this value describes
  std::int64_t share = 0;    // micro-batches of each of them; 0: all replicas of the cluster alike

  [[nodiscard]] const Partition& partition() const { return cluster.partitions[seen_from]; }
  [[nodiscard]] const Chip& chip() const { return partition().node.chip; }
  [[nodiscard]] bool serves() const { return inference.batch > 0; }
  /// Chips of the partitions before this one.
  [[nodiscard]] int first_chip() const {
    int before = 0;
    for (std::size_t p = 0; p < seen_from; ++p)
      before += cluster.partitions[p].chips();
    return before;
  }
  /// Ranks that see different tokens of a step and hold the same dense weights.
  [[nodiscard]] int data_ranks() const { return plan.data * plan.context; }
  /// Ranks that hold the same experts' weights.
  [[nodiscard]] int expert_data_ranks() const {
    return data_ranks() * plan.tensor / (plan.expert * plan.expert_tensor);
  }
  /// Micro-batches per optimizer step and data-parallel rank.
  [[nodiscard]] std::int64_t micro_batches() const {
    return share > 0 ? share : training.global_batch / (plan.data * plan.micro_batch);
  }
};

/// Without the loader's echo, which many copies would carry along.
[[nodiscard]] inline Scenario bare(Scenario scenario) {
  scenario.inputs.clear();
  scenario.assumptions.clear();
  scenario.warnings.clear();
  return scenario;
}

} // namespace clustersim
