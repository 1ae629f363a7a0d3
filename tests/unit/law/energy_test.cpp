// Energy per operator, and that it is the same law as the clock under a cap.

#include "law/attention.hpp"
#include "law/energy.hpp"
#include "law/gemm.hpp"
#include "law/memory_bound.hpp"
#include "spec/catalogue.hpp"
#include "unit/law/fixtures.hpp"

#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>

namespace clustersim {
namespace {

using test::close_to;

constexpr double idle = 50.0;

Chip idling_chip() {
  Chip chip = test::round_chip();
  chip.power.idle = Watts{idle};
  chip.kernels.power.dram = JoulesPerByte{100e-12};
  chip.kernels.power.vector = JoulesPerFlop{5e-12};
  chip.kernels.power.l2 = 0.25;
  return chip;
}

Device capped(const Chip& chip, double watts) {
  return make_device(chip, test::flash_stack(), {Watts{watts}, 1.0});
}

double power_of(const KernelTime& time) {
  return (time.energy / time.total).si();
}

const GemmShape large{8192, 8192, 8192};
const MemoryKernel copy{KernelClass::elementwise, Bytes{4e9}, Flops{}, 1};

Chip shipped(const std::string& name) {
  static const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  Diagnostics diagnostics;
  const auto loaded = load_chip(catalogue, name, diagnostics);
  REQUIRE_MESSAGE(loaded.has_value(), render(diagnostics, false));
  return *loaded;
}

} // namespace

TEST_CASE("energy: a large GEMM draws the limit that sets its clock, but for its start") {
  for (const double watts : {200.0, 300.0, 400.0}) {
    CAPTURE(watts);
    const KernelTime time = gemm_time(large, capped(idling_chip(), watts)).time;
    const double start = time.launch / time.total;
    CHECK(power_of(time) == close_to(watts * (1.0 - start) + idle * start));
  }
}

TEST_CASE("energy: a memory-bound kernel draws idle power and its bytes") {
  const KernelTime time = memory_kernel_time(copy, test::device_of(idling_chip()));
  CHECK(time.energy.si() == close_to(idle * time.total.si() + 4e9 * 100e-12));
  CHECK(power_of(time) < 400.0);
  MemoryKernel busy = copy;
  busy.vector_flops = Flops{1e9};
  const KernelTime more = memory_kernel_time(busy, test::device_of(idling_chip()));
  CHECK((more.energy - time.energy).si() == close_to(1e9 * 5e-12));
}

TEST_CASE("energy: what stays in L2 draws its share of the limit at the full rate") {
  const Device device = test::device_of(idling_chip());
  const MemoryKernel small{KernelClass::elementwise, Bytes{20e6}, Flops{}, 1};
  const KernelTime time = memory_kernel_time(small, device);
  REQUIRE(time.l2.si() > 0.0);
  CHECK(time.energy.si() ==
        close_to(idle * time.total.si() + 0.25 * 400.0 * 20e6 / device.l2.si()));
}

TEST_CASE("energy: matrix work at full clock by the clock law") {
  // dynamic(f) = fixed · TDP - idle + (1 - fixed) · TDP · f^2 at f = 0.9 / 0.8 of the steady clock.
  const Device device = test::device_of(idling_chip());
  const GemmRates& rates = *device.gemm_rates[Precision::bf16];
  const double f = 0.9 / 0.8;
  CHECK(rates.energy.si() == close_to((100.0 - idle + 300.0 * f * f) / (0.9 * 300e12)));
  // Sustained at what its units reach: nothing is lost to the clock, f = 1.
  CHECK(device.gemm_rates[Precision::tf32]->energy.si() ==
        close_to((100.0 - idle + 300.0) / (0.9 * 150e12)));
}

TEST_CASE("energy: power never falls with a higher cap, and stays between idle and the limit") {
  const Chip chip = idling_chip();
  AttentionShape attention;
  attention.batch = 8;
  attention.heads = attention.kv_heads = 32;
  attention.queries = attention.keys = 4096;
  attention.head_dim = 128;
  double last_gemm = 0.0, last_copy = 0.0, last_attention = 0.0;
  for (double watts = 60.0; watts <= 500.0; watts += 20.0) {
    CAPTURE(watts);
    const Device device = capped(chip, watts);
    const double limit = busy_power(chip, {Watts{watts}, 1.0}).si() * (1.0 + 1e-12);
    for (auto [power, last] : {std::pair{power_of(gemm_time(large, device).time), &last_gemm},
                               {power_of(memory_kernel_time(copy, device)), &last_copy},
                               {power_of(attention_time(attention, device)), &last_attention}}) {
      CHECK(power <= limit);
      CHECK(power >= idle);
      CHECK(power >= *last * (1.0 - 1e-12));
      *last = power;
    }
  }
}

TEST_CASE("energy: capping a GEMM saves energy down to the best clock, and costs it below") {
  // E ~ cap / (cap - fixed · TDP)^(1/2) is least at cap = 2 · fixed · TDP.
  const auto energy = [](double watts) {
    return gemm_time(large, capped(idling_chip(), watts)).time.energy;
  };
  const double best = 2.0 * 0.25 * 400.0;
  CHECK(energy(400.0) > energy(300.0));
  CHECK(energy(300.0) > energy(best));
  CHECK(energy(best) < energy(0.7 * best));
}

TEST_CASE("energy: every chip, sparse, grouped or in 16-bit sums, keeps to its limit") {
  static const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  for (const CatalogueEntry& entry : catalogue.entries()) {
    if (entry.kind != Kind::chip) continue;
    CAPTURE(entry.id);
    const Chip chip = shipped(entry.id);
    const Device device = make_device(chip, Stack{}, {});
    for (const Precision p : all_precisions) {
      if (!device.gemm_rates[p]) continue;
      GemmShape shape{4096, 4096, 4096};
      shape.precision = p;
      for (const bool sparse : {false, true}) {
        shape.sparse = sparse;
        const KernelTime time = gemm_time(shape, device).time;
        CHECK(power_of(time) <= device.energy.limit.si() * (1.0 + 1e-12));
        CHECK(power_of(time) >= device.energy.idle.si() * (1.0 - 1e-12));
      }
    }
  }
}

// Board power of FP32 multiply-add streams, te42kyfo/gpu-benches@1c36d50, gpu-roofline: GB/s,
// GFLOP/s, W. Of the points below the board's limit, first, middle and last. They fitted `dram` and
// `vector` of their families, so this says that one line per chip holds them, not that it predicts
// them.
TEST_CASE("energy: streams between memory-bound and compute-bound on three boards") {
  struct Stream {
    const char* chip;
    double bandwidth, rate, watts;
  };
  constexpr std::array streams{Stream{"h200-sxm-141gb", 3759e9, 940e9, 572.0},
                               Stream{"h200-sxm-141gb", 2002e9, 36541e9, 562.0},
                               Stream{"h200-sxm-141gb", 415e9, 42442e9, 396.0},
                               Stream{"a100-sxm4-40gb", 1372e9, 343e9, 227.0},
                               Stream{"a100-sxm4-40gb", 554e9, 17863e9, 224.0},
                               Stream{"a100-sxm4-40gb", 149e9, 19050e9, 183.0},
                               Stream{"l40", 845e9, 211e9, 199.0},
                               Stream{"l40", 844e9, 15404e9, 282.0}};
  for (const Stream& stream : streams) {
    CAPTURE(stream.chip);
    CAPTURE(stream.watts);
    const Device device = make_device(shipped(stream.chip), Stack{}, {});
    KernelTime second;
    second.total = Seconds{1.0};
    const EnergyUse use{{}, {}, Flops{stream.rate}, Bytes{stream.bandwidth}, {}};
    CHECK(kernel_energy(second, use, device).si() == close_to(stream.watts, 0.05));
  }
}

} // namespace clustersim
