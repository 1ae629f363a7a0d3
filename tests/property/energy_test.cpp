// Whole steps: what a chip draws stays between idle and its limit, and never falls when a cap is
// lifted.

#include "pipeline.hpp"
#include "support/scenarios.hpp"

#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <string>

namespace clustersim {

using test::close_to;

TEST_CASE(
    "energy of a step: between idle and the limit, more with a higher cap, by phase in full") {
  for (const char* config : {"dgx_a100", "dgx_h100", "rtx4090_workstation", "single_gpu_gpt2"}) {
    CAPTURE(config);
    double last = 0.0;
    for (const double share : {0.4, 0.6, 0.8, 1.0}) {
      CAPTURE(share);
      const Scenario free = test::shipped_scenario(config);
      const std::string cap = std::to_string(share * free.chip().power.tdp.si());
      const Answer run = answer(test::shipped_scenario(config, {"power.cap=" + cap + " W"}));
      const ChipEnergy& energy = run.energy.chip;
      const double limit = share * free.chip().power.tdp.si();
      CHECK(energy.average.si() <= limit * (1.0 + 1e-9));
      CHECK(energy.busy.si() <= limit * (1.0 + 1e-9));
      CHECK(energy.average >= free.chip().power.idle);
      CHECK(energy.average <= energy.busy * (1.0 + 1e-12));
      CHECK(energy.average.si() >= last);
      last = energy.average.si();
      Joules sum;
      for (const EnergyItem& item : energy.items)
        sum += item.energy;
      CHECK(sum.si() == close_to((energy.average * run.timeline.step).si()));
    }
  }
}

TEST_CASE("energy of a step: memory-bound phases draw less than products") {
  const Answer run = answer(test::shipped_scenario("dgx_h100"));
  Watts optimizer, product;
  for (const OpRecord& op : run.timeline.ops) {
    if (op.axis) continue;
    const Watts drawn = op.each.kernel.energy / op.each.kernel.total;
    if (op.phase == Phase::optimizer) optimizer = std::max(optimizer, drawn);
    if (op.each.kernel.binding == Roof::matrix) product = std::max(product, drawn);
  }
  CHECK(product.si() > 0.97 * run.scenario.chip().power.tdp.si());
  CHECK(optimizer < 0.8 * product);
  CHECK(optimizer > 0.4 * product);
}

} // namespace clustersim
