#include "law/gemm.hpp"

#include "base/bug.hpp"
#include "law/roofline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace clustersim {

namespace {

constexpr double k_step = 64.0;             // depth of one main-loop step
constexpr double least_split_depth = 256.0; // no library splits K finer
constexpr std::array split_factors{1, 2, 4, 8};
constexpr std::size_t most_tiles = 16; // × 4 split factors = 64 candidates

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}
double round_up(double a, double b) {
  return ceil_div(a, b) * b;
}

// The shape in doubles (products of dimensions overflow 64 bits), padded, with the rates it meets.
struct Problem {
  double m, n, k, batch;
  double units;
  FlopsPerSecond unit_rate; // of one compute unit
  double operand_bytes;     // of one element
  BytesPerSecond l2;        // as the menu's tiles use it
  Bytes traffic;
  Seconds memory;
};

Bytes compulsory_traffic(const GemmShape& shape) {
  const auto m = static_cast<double>(shape.m), n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k), batch = static_cast<double>(shape.batch);
  const Bytes in = bytes_per_element(shape.precision), out = bytes_per_element(shape.output);
  const double passes = shape.accumulate ? 2.0 : 1.0; // read before written
  return batch * (m * k + k * n) * in + batch * m * n * passes * out;
}

Problem make_problem(const GemmShape& shape, const Device& device) {
  const GemmCalibration& constants = device.kernels.gemm;
  const auto& rate = device.matrix_sustained[shape.precision];
  if (!rate) throw Bug("a GEMM at a precision that the chip cannot compute");
  const double role =
      shape.role == GemmRole::weight_gradient ? constants.weight_gradient_rate : 1.0;
  const double edge = std::max(1, constants.alignment);
  Problem p{};
  p.m = static_cast<double>(shape.m);
  p.n = round_up(static_cast<double>(shape.n), edge);
  p.k = round_up(static_cast<double>(shape.k), edge);
  p.batch = static_cast<double>(shape.batch);
  p.units = device.compute_units;
  p.unit_rate = *rate * (role / p.units);
  p.operand_bytes = bytes_per_element(shape.precision).si();
  p.l2 = device.l2 * constants.l2_reuse;
  p.traffic = compulsory_traffic(shape);
  p.memory = p.traffic / (device.memory * constants.memory_fraction);
  return p;
}

struct Candidate {
  Seconds matrix, l2;
  Tile tile;
  double tiles = 0.0, waves = 0.0;
};

double sixth_power(Seconds t) {
  const double square = t.si() * t.si();
  return square * square * square;
}

// The tile of the menu that finishes first when K is cut into `split` parts. Candidates are
// compared by the sixth power of their joint time, which needs no root. A tile of Mt × Nt fetches
// Mt + Nt operands per step of K from L2: small tiles waste less of the edge and the tail, but
// starve.
Candidate best_tile(const Problem& p, const GemmCalibration& constants, double split) {
  const double steps = round_up(p.k / split, k_step);
  Candidate best;
  double least = std::numeric_limits<double>::infinity();
  const std::size_t count = std::min(constants.tiles.size(), most_tiles);
  for (std::size_t i = 0; i < count; ++i) {
    const double rows = constants.tiles[i].rows, columns = constants.tiles[i].columns;
    const double tiles = p.batch * ceil_div(p.m, rows) * ceil_div(p.n, columns) * split;
    const double waves = ceil_div(tiles, p.units);
    const Flops work{waves * 2.0 * rows * columns * (steps + constants.extra_k)};
    const Bytes fetched{waves * p.units * (rows + columns) * steps * p.operand_bytes};
    const Seconds matrix = work / p.unit_rate;
    const Seconds l2 = p.l2.si() > 0.0 ? fetched / p.l2 : Seconds{};
    const double joint = sixth_power(matrix) + sixth_power(l2);
    if (joint >= least) continue;
    least = joint;
    best = {matrix, l2, constants.tiles[i], tiles, waves};
  }
  return best;
}

// Partial sums leave and re-enter the unit in FP32: 8 bytes each, through L2.
Seconds split_cost(const Problem& p, const Device& device, double split) {
  if (split <= 1.0) return Seconds{};
  const Bytes partial_sums{8.0 * p.batch * p.m * p.n * split};
  const BytesPerSecond through = std::max(device.l2, device.memory);
  return partial_sums / through + device.kernels.gemm.split_start * device.start_scale;
}

void finish(GemmTime& result, const GemmShape& shape, const Problem& p, const Device& device) {
  KernelTime& time = result.time;
  time.memory = p.memory;
  time.launch = device.gap + device.kernels.gemm.start * device.start_scale;
  time.total += time.launch;
  time.traffic = p.traffic;
  time.flops = Flops{2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                     static_cast<double>(shape.k) * p.batch};
  const Seconds longest = std::max({time.matrix, time.l2, time.memory, time.launch});
  time.binding = longest == time.matrix   ? Roof::matrix
                 : longest == time.memory ? Roof::memory
                 : longest == time.l2     ? Roof::l2
                                          : Roof::launch;
}

// A systolic array streams K through an edge × edge block of the output: dimensions are padded to
// the array, and every unit works on its share of the blocks without waves (the compiler pipelines
// them).
GemmTime systolic_time(const GemmShape& shape, const Problem& p, const Device& device) {
  const double edge = device.kernels.gemm.systolic;
  const double k = round_up(p.k, edge), n = round_up(p.n, edge), m = round_up(p.m, 8.0);
  GemmTime result;
  result.tile = {device.kernels.gemm.systolic, device.kernels.gemm.systolic};
  result.time.matrix = Flops{2.0 * p.batch * m * n * k} / (p.unit_rate * p.units);
  result.waves = 1;
  result.time.total = join_roofs(result.time.matrix, p.memory);
  finish(result, shape, p, device);
  return result;
}

GemmTime tiled_time(const GemmShape& shape, const Problem& p, const Device& device) {
  const GemmCalibration& constants = device.kernels.gemm;
  if (constants.tiles.empty()) throw Bug("calibration without a tile menu");
  GemmTime result;
  result.time.total = Seconds{std::numeric_limits<double>::infinity()};
  for (const int split : split_factors) {
    if (split > 1 && p.k / split < least_split_depth) break;
    const Candidate candidate = best_tile(p, constants, split);
    const Seconds extra = split_cost(p, device, split);
    const Seconds total = join_roofs(candidate.matrix, candidate.l2, p.memory, {}) + extra;
    if (total >= result.time.total) continue;
    result.time.total = total;
    result.time.matrix = candidate.matrix;
    result.time.l2 = candidate.l2 + extra;
    result.tile = candidate.tile;
    result.split_k = split;
    result.waves = static_cast<std::int64_t>(std::min(candidate.waves, 9e15));
    result.tail = 1.0 - candidate.tiles / (candidate.waves * p.units);
  }
  finish(result, shape, p, device);
  return result;
}

} // namespace

GemmTime gemm_time(const GemmShape& shape, const Device& device) {
  if (std::min({shape.m, shape.n, shape.k, shape.batch}) < 0) {
    throw Bug("a GEMM with a negative dimension");
  }
  if (std::min({shape.m, shape.n, shape.k, shape.batch}) == 0) return {};
  const Problem problem = make_problem(shape, device);
  return device.kernels.gemm.systolic > 0 ? systolic_time(shape, problem, device)
                                          : tiled_time(shape, problem, device);
}

} // namespace clustersim
