#include "law/gemm.hpp"

#include "base/bug.hpp"
#include "law/energy.hpp"
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
  FlopsPerSecond unit_rate; // of one compute unit at full clock
  FlopsPerSecond rate;      // of the chip within its power
  JoulesPerFlop energy;     // of matrix work
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
  const Bytes weight = shape.weight > Bytes{0} ? shape.weight : in;
  return batch * (m * k * in + k * n * weight) + batch * m * n * passes * out;
}

Flops useful_work(const GemmShape& shape) {
  return Flops{2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
               static_cast<double>(shape.k) * static_cast<double>(shape.batch)};
}

// What the shape's role and format make of the dense forward rate.
double rate_of(const GemmShape& shape, const GemmCalibration& constants, const GemmRates& rates) {
  double factor = shape.sparse ? rates.sparse : 1.0;
  if (shape.accumulate_16) factor *= rates.accumulate_16;
  const GroupedRate& grouped = constants.grouped;
  switch (shape.role) {
  case GemmRole::forward:
    return factor * (shape.grouped ? grouped.forward : 1.0);
  case GemmRole::data_gradient:
    return factor * (shape.grouped ? grouped.data_gradient : 1.0);
  case GemmRole::weight_gradient:
    return factor * constants.weight_gradient_rate *
           (shape.grouped ? grouped.weight_gradient : 1.0);
  }
  throw Bug("unknown role of a GEMM");
}

// The mean rate over the call: power allows `early` at first, and falls to `steady` exponentially.
FlopsPerSecond within_power(const GemmRates& rates, Flops work) {
  const Seconds at_first = work / rates.early;
  if (rates.steady == rates.early || rates.boost.si() <= 0.0) return rates.early;
  const double x = at_first / rates.boost;
  return rates.steady + (rates.early - rates.steady) * (-std::expm1(-x) / x);
}

Problem make_problem(const GemmShape& shape, const Device& device) {
  const GemmCalibration& constants = device.kernels.gemm;
  const auto& rates = device.gemm_rates[shape.precision];
  if (!rates) throw Bug("a GEMM at a precision that the chip cannot compute");
  const double role = rate_of(shape, constants, *rates);
  const double edge = std::max(1, constants.alignment);
  Problem p{};
  p.m = static_cast<double>(shape.m);
  p.n = round_up(static_cast<double>(shape.n), edge);
  p.k = round_up(static_cast<double>(shape.k), edge);
  p.batch = static_cast<double>(shape.batch);
  p.units = device.compute_units;
  p.unit_rate = rates->unit * (role / p.units);
  p.rate = within_power(*rates, useful_work(shape)) * role;
  // Sparse products and sums in 16 bits do more per joule; a slow role only takes longer.
  p.energy = rates->energy / std::max(1.0, role);
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
  Flops executed; // padding included
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
    const double area = 2.0 * rows * columns;
    const Bytes fetched{waves * p.units * (rows + columns) * steps * p.operand_bytes};
    const Seconds unit = Flops{waves * area * (steps + constants.extra_k)} / p.unit_rate;
    // Idle units of a tail leave their power to the others: only the sum of the work is bound by
    // it.
    const Flops executed{tiles * area * steps};
    const Seconds matrix = std::max(unit, executed / p.rate);
    const Seconds l2 = p.l2.si() > 0.0 ? fetched / p.l2 : Seconds{};
    const double joint = sixth_power(matrix) + sixth_power(l2);
    if (joint >= least) continue;
    least = joint;
    best = {matrix, l2, constants.tiles[i], tiles, waves, executed};
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

// A as it comes, in 16 bits, and as the product reads it.
Seconds cast_time(const GemmShape& shape, const Problem& p, const GemmRates& rates) {
  if (rates.cast.si() <= 0.0) return Seconds{};
  const double elements = p.batch * p.m * static_cast<double>(shape.k);
  return Bytes{elements * (2.0 + p.operand_bytes)} / rates.cast;
}

void finish(GemmTime& result, const GemmShape& shape, const Problem& p, Flops executed,
            const Device& device) {
  KernelTime& time = result.time;
  time.memory = p.memory;
  const GemmRates& rates = *device.gemm_rates[shape.precision];
  // Experts are kernels of their own on parallel streams: tiles of one fill the tail of another
  // and none waits for the one before, but each has to start. On a systolic chip the compiler
  // writes one kernel for all of them.
  const bool apart = shape.grouped && device.kernels.gemm.systolic == 0;
  const double kernels = apart ? p.batch : 1.0;
  time.launch = device.gap + rates.start * (device.start_scale * kernels);
  time.total += time.launch + cast_time(shape, p, rates);
  time.traffic = p.traffic;
  time.flops = useful_work(shape);
  time.peak = device.matrix_peak[shape.precision].value_or(FlopsPerSecond{});
  time.energy = kernel_energy(time, {executed, p.energy, {}, p.traffic, {}}, device);
  time.binding = longest_roof(time);
}

// A systolic array streams K through an edge × edge block of the output: dimensions are padded to
// the array, and every unit works on its share of the blocks without waves (the compiler pipelines
// them).
GemmTime systolic_time(const GemmShape& shape, const Problem& p, const Device& device) {
  const double edge = device.kernels.gemm.systolic;
  const double k = round_up(p.k, edge), n = round_up(p.n, edge), m = round_up(p.m, 8.0);
  GemmTime result;
  result.tile = {device.kernels.gemm.systolic, device.kernels.gemm.systolic};
  // Padding keeps the array busy, so the clock under power is that of all of it.
  const FlopsPerSecond rate = std::min(p.rate, p.unit_rate * p.units);
  const Flops executed{2.0 * p.batch * m * n * k};
  result.time.matrix = executed / rate;
  result.waves = 1;
  result.time.total = join_roofs(result.time.matrix, p.memory);
  finish(result, shape, p, executed, device);
  return result;
}

GemmTime tiled_time(const GemmShape& shape, const Problem& p, const Device& device) {
  const GemmCalibration& constants = device.kernels.gemm;
  if (constants.tiles.empty()) throw Bug("calibration without a tile menu");
  GemmTime result;
  result.time.total = Seconds{std::numeric_limits<double>::infinity()};
  Flops executed;
  for (const int split : split_factors) {
    if (split > 1 && p.k / split < least_split_depth) break;
    const Candidate candidate = best_tile(p, constants, split);
    const Seconds extra = split_cost(p, device, split);
    const Seconds total = join_roofs(candidate.matrix, candidate.l2, p.memory, {}) + extra;
    if (total >= result.time.total) continue;
    result.time.total = total;
    result.time.matrix = candidate.matrix;
    result.time.l2 = candidate.l2 + extra;
    executed = candidate.executed;
    result.tile = candidate.tile;
    result.split_k = split;
    result.waves = static_cast<std::int64_t>(std::min(candidate.waves, 9e15));
    result.tail = 1.0 - candidate.tiles / (candidate.waves * p.units);
  }
  finish(result, shape, p, executed, device);
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
