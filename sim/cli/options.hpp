#pragma once
// What the command line said, apart from how it was parsed.

#include <string>
#include <vector>

namespace clustersim::cli {

/// Of the verb `kernel`. Texts, for most take ranges.
struct KernelOptions {
  std::string m, n, k, batch, role, sums;                  // GEMM
  std::string sequence, heads, kv_heads, head_dim, window; // attention
  std::string library;
  std::string kernel_class, bytes; // memory
  std::string condition, operands, launch, power_cap;
  std::vector<std::string> sweeps;
  bool sparse = false, causal = false, backward = false;
};

/// Of the verb `search`.
struct PlanSearchOptions {
  std::vector<std::string> fix;
  std::string objective, top, shard;
  bool exhaustive = false, pareto = false;
};

/// Of the verb `sweep`.
struct SweepOptions {
  std::vector<std::string> vary;
  std::string metric;
};

struct Options {
  std::string verb;                   // empty: none
  std::vector<std::string> arguments; // what follows it
  std::vector<std::string> given;     // names of the options that were used

  std::vector<std::string> settings;     // --set, in order
  std::vector<std::string> fail_on;      // --fail-on
  std::vector<std::string> chips;        // --chip
  std::vector<std::string> calibrations; // --calibration
  std::vector<std::string> fit;          // --fit
  std::vector<std::string> hold;         // --hold
  std::string data, output, precision, threads, prior, date;
  std::string engine, trace;                                                // of `run`
  std::string topology, fabric, nodes, ranks, sizes, algorithm, concurrent; // of `collective`
  std::string collective, size, svg, dot;                                   // of `topology`
  std::string colour = "auto";
  KernelOptions kernel;
  PlanSearchOptions search;
  SweepOptions sweep;
  bool compare_engines = false;
  bool json = false, csv = false, quiet = false, verbose = false, help = false, version = false;
};

} // namespace clustersim::cli
