// What determines a constant, in words: advice for whoever measures.

#include "study/calibrate.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace clustersim {
namespace {

/// '*' stands for the rest of a key, and {} for that rest in the advice.
struct Advice {
  std::string_view key, measure;
};

constexpr auto advice = std::to_array<Advice>({
    {"gemm.sustained.*",
     "GEMMs of {} with M, N and K of 4096 and more, random data, after seconds of "
     "warm-up"},
    {"gemm.burst.*",
     "GEMMs of {} with M, N and K of 4096 and more, random data, a few replays on a "
     "cool chip"},
    {"gemm.loop.*", "GEMMs of {} with M, N and K of 4096 and more, in loops on a whole busy node"},
    {"gemm.unit.*", "GEMMs of {} of 1 to 4 full waves of tiles, a few replays on a cool chip"},
    {"gemm.library.*", "GEMMs by that library ({}), from small to large"},
    {"gemm.easy_data", "the same large GEMMs on random and on unrandomised data, under load"},
    {"gemm.still_data", "the same large GEMMs on random data and on zeros, under load"},
    {"gemm.boost", "GEMMs of 1 to 10 ms each, a few replays on a cool chip"},
    {"gemm.loop_boost", "GEMMs of 1 to 10 ms each, in loops on a whole busy node"},
    {"gemm.grouped.*", "grouped products of experts ({})"},
    {"gemm.ceiling",
     "GEMMs with M, N and K of 4096 and more on a board that its power does not limit"},
    {"gemm.start", "GEMMs with M, N and K of 512 and less"},
    {"gemm.memory_fraction", "GEMMs with M of 64 and less, N and K of 8192"},
    {"gemm.split_start", "GEMMs with M and N of 256 and K of 16384 and more"},
    {"gemm.l2_reuse", "GEMMs with M and N of 8192 and more, at several K"},
    {"gemm.weight_gradient_rate", "weight gradients of linear layers (layout NT, FP32 output)"},
    {"memory.library.*", "kernels by that library ({}), from some KB to 256 MB"},
    {"memory.copy", "copies and triads of 1 GB and more"},
    {"memory.stream", "reads alone and writes alone of 1 GB and more"},
    {"memory.classes.*", "{} kernels on 256 MB and more"},
    {"memory.half_size", "one kernel on sizes from 1 to 64 MB beyond the L2 cache"},
    {"memory.start", "kernels on some KB, timed without their launch"},
    {"launch.stream_gap", "a small kernel launched back to back in a stream"},
    {"launch.graph_gap", "a small kernel repeated in a captured graph"},
    {"power.dram",
     "board power: no row here holds it (streams from memory-bound to compute-bound)"},
    {"power.vector", "board power: no row here holds it (streams from memory- to compute-bound)"},
    {"power.l2", "board power: no row here holds it (reads of a set that fits in L2)"},
    {"power.*", "one matrix-bound workload at several power caps, with its uncapped draw"},
});

std::string attention_rows(const std::vector<std::string>& path) {
  const std::string& kernel = path[1];
  const bool share = path.size() == 4;
  return share ? fmt::format("fused attention by {}, {}, head dimension {}, sequences of 4096 and "
                             "more",
                             kernel, path[2], path[3])
               : fmt::format("fused attention by {} on sequences of 512 and less", kernel);
}

} // namespace

std::string what_to_measure(const std::string& key) {
  const std::vector<std::string> path = path_of(key);
  if (path.front() == "attention") {
    return attention_rows(path);
  }
  for (const Advice& one : advice) {
    const bool family = one.key.ends_with('*');
    const std::string_view table = family ? one.key.substr(0, one.key.size() - 1) : one.key;
    if (key == one.key) {
      return std::string(one.measure);
    }
    if (family && key.compare(0, table.size(), table) == 0) {
      return fmt::format(fmt::runtime(one.measure), key.substr(table.size()));
    }
  }
  return "kernels whose time it moves, at several sizes";
}

} // namespace clustersim
