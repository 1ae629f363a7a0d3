// The event engine against the analytic one where both are exact, and against formulas where only
// it is.

#include "engine/analytic.hpp"
#include "engine/event.hpp"
#include "plan/lower.hpp"
#include "random_programs.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Scenario without_tax(const char* name) {
  Scenario scenario = test::shipped_scenario(name);
  scenario.training.stack.overlap.tax = 0.0;
  return scenario;
}

/// A program of one class that runs one block so often.
StepProgram program_of(std::vector<Op> ops, std::int64_t times = 1) {
  StepProgram program;
  program.blocks.push_back({"block", std::move(ops)});
  program.sequences.push_back({{{Item::What::block, 0, times}}});
  program.classes.push_back({"all", 128, 0});
  return program;
}

Op collective(Lane lane, Axis axis, GroupFamily family, double bytes, double hidden) {
  Op op;
  op.name = "collective";
  op.lane = lane;
  op.work = Collective{CollectiveKind::all_gather, axis, family, Bytes{bytes}, 1};
  op.hidden = hidden;
  return op;
}

Op join(Lane lane) {
  Op op;
  op.work = Join{lane};
  return op;
}

Op product(std::int64_t size) {
  Op op;
  op.work = GemmShape{size, size, size};
  return op;
}

double sum_of(const std::vector<BreakdownItem>& items) {
  double sum = 0.0;
  for (const BreakdownItem& item : items)
    sum += item.time.si();
  return sum;
}

} // namespace

TEST_CASE("without tax and contention the engines agree on random programs") {
  const Scenario scenario = without_tax("dgx_h100");
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  std::mt19937 random(20250301); // NOLINT: a fixed seed is the point
  for (int round = 0; round < 300; ++round) {
    const StepProgram program = test::random_program(random);
    const double expected = step_time(program, cost).si();
    for (const bool repeats : {false, true}) {
      const EventRun run = run_event(program, cost, {false, repeats, 0});
      CHECK(run.timeline.step.si() == close_to(expected, 1e-8));
      CHECK(sum_of(run.timeline.breakdown) == close_to(expected, 1e-8));
      CHECK(sum_of(run.critical_path) == close_to(expected, 1e-8));
    }
  }
}

TEST_CASE("rounds that are counted take as long as rounds that are run, contention and tax too") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  std::mt19937 random(20250302); // NOLINT: a fixed seed is the point
  for (int round = 0; round < 300; ++round) {
    const StepProgram program = test::random_program(random);
    const EventRun run = run_event(program, cost, {true, false, 0});
    const EventRun counted = run_event(program, cost, {true, true, 0});
    CHECK(counted.timeline.step.si() == close_to(run.timeline.step.si(), 1e-7));
    CHECK(counted.events <= run.events);
  }
}

TEST_CASE("a kernel beside a collective runs at 1 - tax of its speed while that lasts") {
  Scenario scenario = test::shipped_scenario("dgx_h100");
  scenario.training.stack.overlap.tax = 0.25;
  scenario.training.stack.launch = LaunchMode::graph; // no host
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const Op gather = collective(Lane::data, Axis::data, {8, 1}, 1e9, 1.0), gemm = product(16384);
  const double t = cost.time(gather).device.si(), k = cost.time(gemm).device.si();
  REQUIRE(t < k); // in t seconds 0.75 t of the kernel are done
  const double straggler = cost.straggler();
  const double step =
      run_event(program_of({gather, gemm, join(Lane::data)}), cost).timeline.step.si();
  CHECK(step == close_to((t + (k - 0.75 * t)) * straggler, 1e-9));
}

TEST_CASE("two collectives on the same links take as long as the links need for both") {
  Scenario scenario = without_tax("dgx_h100");
  scenario.training.stack.launch = LaunchMode::graph;
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const double bytes = 64e9;
  const GroupFamily node{8, 1};
  const Op a = collective(Lane::data, Axis::data, node, bytes, 1.0);
  const Op b = collective(Lane::tensor, Axis::tensor, node, bytes, 1.0);
  const double t = cost.time(a).device.si();
  const StepProgram both = program_of({a, b, join(Lane::data), join(Lane::tensor)});
  double busy = 0.0; // of the busiest edge, by one of them
  for (const EdgeTime& edge : edge_times(*cost.time(a).collective.form, network.graph))
    busy = std::max(busy, (edge.busy * Bytes{bytes}).si());
  REQUIRE(t < 2.0 * busy); // alone each keeps the edge busy for more than half of its time
  CHECK(run_event(both, cost).timeline.step.si() / cost.straggler() == close_to(2.0 * busy, 1e-9));
  CHECK(run_event(both, cost, {false, true, 0}).timeline.step.si() / cost.straggler() ==
        close_to(t, 1e-9));
  // Between nodes the NIC binds, and leaves most of NVLink to the other.
  const Op across = collective(Lane::data, Axis::data, {16, 8}, bytes, 1.0);
  const double far = cost.time(across).device.si();
  const StepProgram apart = program_of({across, b, join(Lane::data), join(Lane::tensor)});
  const double step = run_event(apart, cost).timeline.step.si() / cost.straggler();
  CHECK(step < 1.3 * std::max(t, far));
}

TEST_CASE("uses of streams and links are shares of the step") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  Network network(scenario.cluster);
  CostModel cost(scenario, network);
  const EventRun run = run_event(lower(scenario), cost);
  REQUIRE(!run.links.empty());
  for (const LinkUse& link : run.links) {
    CHECK(link.use > 0.0);
    CHECK(link.use <= link.busy * (1 + 1e-9));
    CHECK(link.busy <= 1.0);
  }
  REQUIRE(run.streams.front().name == "compute");
  for (const StreamUse& stream : run.streams)
    CHECK(stream.busy <= 1.0 + 1e-9);
}
