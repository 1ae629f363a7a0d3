#pragma once
// The step program: what one rank of each class does in one optimizer step, without a single time
// in it. Both engines read it (docs/adr/0003-step-program.md). It is a loop nest over blocks, so
// its size does not grow with layers, micro-batches or chips.
//
// Semantics. The host dispatches operators in program order. An operator on the compute lane starts
// when it is dispatched and the lane is free. A collective of duration t on another lane can hide
// the share `hidden`: first (1 − hidden)·t blocks the compute lane, then hidden·t runs beside it on
// its own lane (in order), and the compute lane loses tax·hidden·t to it (compute units and
// bandwidth it takes). Join{lane} makes the compute lane wait for a lane. An optimizer step ends
// when every clock has.
//
// In a pipeline every stage is a class of its own. It works through the tasks of its schedule, each
// a pass of one micro-batch through one chunk of layers, then waits for the other stages and runs
// its `sequence` (the update). A pass starts on the compute lane when what the neighbouring place
// sent has arrived: when that place's pipeline lane was free after its pass.

#include "law/attention.hpp"
#include "law/gemm.hpp"
#include "law/memory_bound.hpp"
#include "network/collective.hpp"
#include "plan/schedule.hpp"
#include "spec/scenario.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace clustersim {

enum class Lane { compute, tensor, context, expert, data, pipeline, host };
inline constexpr std::size_t lane_count = 7;

/// What part of the step an operator belongs to; the breakdown and the waterfall group by it.
enum class Phase { forward, recompute, backward, gradient, optimizer };

struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Axis axis = Axis::tensor;
  GroupFamily family;
  Bytes payload; // per call
  int calls = 1; // buckets of equal size, back to back
  friend auto operator<=>(const Collective&, const Collective&) = default;
};

struct Join {
  Lane lane = Lane::tensor;
};

/// A copy between a chip and its host's memory or drives, or an update by the host's cores, on all
/// chips of a node at once.
struct HostWork {
  enum class What { to_host, from_host, read_drive, write_drive, update } what = What::to_host;
  Bytes bytes; // of one chip; of an update what its cores read and write
  friend auto operator<=>(const HostWork&, const HostWork&) = default;
};

using Work = std::variant<GemmShape, AttentionShape, MemoryKernel, Collective, Join, HostWork>;

struct Op {
  std::string name; // "qkv projection", "all-gather before qkv"
  Phase phase = Phase::forward;
  Work work;
  Lane lane = Lane::compute;
  double hidden = 0.0;
  Flops model_flops; // what MFU counts for this call (0 for recompute and memory kernels)
};

struct Block {
  std::string name; // "layer forward"
  std::vector<Op> ops;
};

/// One step of a loop nest: a block or another sequence, `count` times.
struct Item {
  enum class What { block, sequence } what = What::block;
  std::size_t index = 0; // into StepProgram::blocks or ::sequences
  std::int64_t count = 1;
};

struct Sequence {
  std::vector<Item> items;
};

/// The passes of a micro-batch through one chunk of layers, as sequences. The first forward pass
/// may wait for gathered parameters, the last backward pass reduces gradients. The split forms are
/// used where the schedule splits backward.
struct ChunkPasses {
  std::size_t first_forward = 0, forward = 0;
  std::size_t backward = 0, last_backward = 0;
  std::size_t input_gradient = 0, weight_gradient = 0, last_weight_gradient = 0;
};

/// Ranks that do the same: all of them, or one class per pipeline stage.
struct RankClass {
  std::string name;
  std::int64_t ranks = 0;
  std::size_t sequence = 0;             // the whole step; in a pipeline what follows the last task
  std::size_t prologue = 0;             // in a pipeline: what precedes the first task
  std::vector<ChunkPasses> chunks = {}; // in a pipeline
};

struct StepProgram {
  std::vector<Block> blocks;
  std::vector<Sequence> sequences;
  std::vector<RankClass> classes; // in a pipeline: its stages, in order
  std::optional<PipelineSchedule> pipeline = std::nullopt;
};

} // namespace clustersim
