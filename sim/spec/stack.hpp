#pragma once
// A software stack (models/stacks/*.toml): what the kernel library and the framework do. At most
// two scalars for time and one for memory may be set on measured runs; they are marked `fitted` in
// the file.

#include "base/precision.hpp"
#include "base/quantity.hpp"
#include "spec/calibration.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clustersim {

enum class LaunchMode { eager, graph, compiled };

/// Where in a training step a memory-bound kernel runs, and the tensor its traffic is counted on.
enum class Site {
  embedding,  // tokens × hidden
  norm,       // tokens × hidden, once per norm
  residual,   // tokens × hidden, twice per layer
  qkv,        // tokens × (q + k + v) width
  rope,       // tokens × (q + k) width
  score,      // batch × heads × s², unfused attention only
  context,    // tokens × q width: permutes around attention
  activation, // tokens × FFN width (of the down projection's input)
  loss,       // tokens × vocabulary
  gradient,   // parameters, once per micro-batch: separate accumulation
  adapter, // tokens × output width of an adapted product: scaling and adding its adapter's output
  cast,    // parameters, once per micro-batch: autocast of FP32 weights
  quantise // operands of 8- and 4-bit GEMMs: tokens × input (forward) or output (backward) width
};

[[nodiscard]] std::string_view name_of(Site site);
[[nodiscard]] std::optional<Site> site_from(std::string_view name);

/// When a kernel of a recipe runs: a stack fuses SwiGLU and GELU, with and without dropout,
/// differently.
enum class KernelCondition { always, gated, ungated, dropout, no_dropout };

[[nodiscard]] std::string_view name_of(KernelCondition condition);
[[nodiscard]] std::optional<KernelCondition> kernel_condition_from(std::string_view name);

/// One memory-bound kernel of a fusion recipe. Traffic is given per element of the tensor that the
/// site works on, in elements of the activation type, reads and writes together.
struct FusedKernel {
  std::string name; // "bias-dropout-add"
  Site site = Site::norm;
  KernelClass kernel_class = KernelClass::elementwise;
  double forward = 0; // elements moved per element, forward
  double backward = 0;
  double extra_bytes = 0; // bytes per element beside that, each way: dropout masks, FP32 statistics
  double saved = 0;       // bytes per element kept for backward beside the operands of GEMMs
  KernelCondition when = KernelCondition::always;
};

/// models/recipes/*.toml: which memory-bound kernels run at each site.
struct FusionRecipe {
  std::string id, name;
  std::vector<FusedKernel> kernels;
};

struct Stack {
  std::string id, name;
  std::vector<std::string> aliases;
  std::string note;
  LaunchMode launch = LaunchMode::eager;
  std::string attention_kernel; // "unfused" or a key of KernelCalibration::attention, in order of
  std::vector<std::string> attention_fallbacks; // preference when the chip's family lacks the first
  FusionRecipe recipe;

  struct Host {
    Seconds per_operator;         // dispatch of one modelled operator, 0 inside graphs (scalar 1)
    double backward_factor = 0.7; // backward dispatch is C++ (autograd)
    double per_collective = 0.3;  // of an operator
  } host;
  double class_factor = 1.0; // on every memory-bound class fraction (scalar 2)

  struct Overlap {
    double data = 0.0;   // share of gradient reduction that may hide behind backward
    double gather = 0.0; // ZeRO parameter gathers
    double tensor = 0.0; // tensor-parallel collectives behind their GEMMs
    std::optional<double> tensor_gradient; // input-gradient all-reduce behind the weight-gradient
                                           // GEMM, where it differs from `tensor`
    std::optional<double> weights;         // ZeRO-2 and 3's gathers and scatters, where they differ
    double pipeline = 0.0;                 // sends of an interleaved pipeline; others block
    double context = 0.0;                  // ring exchange behind attention of the block before
    double expert = 0.0;                   // all-to-all behind the work of other micro-batches
    double tax = 0.0;                      // compute lost per second of overlapped communication
    Bytes bucket;                          // gradient bucket, at least
    Bytes bucket_per_rank;                 // and at least this for every data-parallel rank
  } overlap;

  struct Gradient {
    bool accumulate_in_gemm = true;    // weight-gradient GEMM adds into the main gradient
    bool kept_until_pass_ends = false; // fresh ones of all parameters, where it does not
    Precision dtype = Precision::fp32;
  } gradient;

  struct Optimizer {
    std::string use = "adamw";            // what this stack trains with, unless the scenario says
    double extra_bytes_per_parameter = 0; // traffic of its update beyond the rule's
    double norm_bytes_per_parameter = 0;  // gradient norm and clipping: not sharded by ZeRO
    int kernels = 1;                      // launches
  } optimizer;

  struct Head {
    double logit_bytes = 4; // memory kept per logit, loss included
  } head;

  struct Experts {
    bool deduplicates = false; // dispatch sends a token once per rank, and across nodes once per
                               // node, and lays the copies out by expert (DeepEP, HybridEP)
  } experts;

  struct MemoryUse {
    Bytes framework;            // context, communicators, cache (scalar: memory)
    double fragmentation = 0.0; // held by the allocator beyond its peak, as a share of it
    Bytes workspace;
  } memory;

  double spread = 0.08; // of steps between releases, and by settings that nobody states
  double straggler_per_doubling = 0.0; // step grows by this per doubling of chips above 8
};

} // namespace clustersim
