// Optimizers, adapters, frozen layers and copies to the host, as operators of a step.

#include "examples.hpp"
#include "plan/memory.hpp"
#include "plan/trained.hpp"
#include "support/close_to.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

Scenario llama(std::int64_t rank) {
  Scenario scenario = test::example(test::llama3_70b(), 2048);
  FineTuning& tuning = scenario.training.tuning;
  tuning.rank = rank;
  if (rank > 0) tuning.targets = {Matrix::query, Matrix::value};
  return scenario;
}

double model_flops_of_ops(const Scenario& scenario) {
  return test::sum_over_step(lower(scenario), [](const Op& op) { return op.model_flops.si(); }) *
         scenario.plan.tensor * scenario.plan.data;
}

double named_flops(const Scenario& scenario, const std::string& part) {
  return test::sum_over_step(lower(scenario), [&](const Op& op) {
    return op.name.find(part) != std::string::npos ? test::gemm_flops(op) : 0.0;
  });
}

double host_bytes(const Scenario& scenario, HostWork::What what) {
  return test::sum_over_step(lower(scenario), [&](const Op& op) {
    const auto* work = std::get_if<HostWork>(&op.work);
    return work != nullptr && work->what == what ? work->bytes.si() : 0.0;
  });
}

Scenario with_host(Scenario scenario) {
  Node::Host& host = scenario.cluster.partitions.front().node.host;
  host.pcie.bandwidth = BytesPerSecond{64e9};
  host.memory.bandwidth = BytesPerSecond{300e9};
  return scenario;
}

double update_traffic(const Scenario& scenario) {
  return test::sum_over_step(lower(scenario), [](const Op& op) {
    const auto* kernel = std::get_if<MemoryKernel>(&op.work);
    return kernel != nullptr && op.name.starts_with("optimizer update") ? kernel->traffic.si()
                                                                        : 0.0;
  });
}

} // namespace

TEST_CASE("an adapter has r (in + out) parameters, and only adapters are trained") {
  const Scenario scenario = llama(16);
  const double q = 8192 + 8192, v = 8192 + 1024;
  CHECK(trained_parameters(scenario) == close_to(80.0 * 16 * (q + v)));
  CHECK(trained_parameters(llama(0)) ==
        close_to(static_cast<double>(count_parameters(scenario.model).total)));
}

TEST_CASE("frozen matrices have data gradients and no weight gradients") {
  const Scenario scenario = llama(16);
  CHECK(named_flops(scenario, "down projection, weight gradient") == 0.0);
  CHECK(named_flops(scenario, "vocabulary head, weight gradient") == 0.0);
  CHECK(named_flops(scenario, "down projection, data gradient") ==
        close_to(80.0 * 2 * 2048 * 28672 * 8192));
  const double widths = 16.0 * ((8192 + 8192) + (8192 + 1024));
  CHECK(named_flops(scenario, "adapter of qkv projection") ==
        close_to(80.0 * 3 * 2 * 2048 * widths));
}

TEST_CASE("what MFU counts is the sum over operators, whatever is trained") {
  for (const int tensor : {1, 4}) {
    for (const std::int64_t rank : {0, 8}) {
      for (const std::int64_t frozen : {0, 30}) {
        Scenario scenario = llama(rank);
        test::spread(scenario, tensor, 2, 3);
        scenario.training.tuning.frozen_layers = frozen;
        CAPTURE(tensor);
        CAPTURE(rank);
        CAPTURE(frozen);
        CHECK(model_flops_of_ops(scenario) == close_to(model_flops(scenario).si()));
      }
    }
  }
}

TEST_CASE("frozen first layers keep nothing and run no backward pass") {
  Scenario scenario = llama(0);
  scenario.training.tuning.frozen_layers = 60;
  CHECK(named_flops(scenario, "down projection, data gradient") ==
        close_to(20.0 * 2 * 2048 * 28672 * 8192));
  const auto activations = [](const Scenario& of) {
    const MemoryFootprint memory = memory_footprint(of);
    const auto term = std::ranges::find(memory.terms, "activations", &MemoryTerm::name);
    return term == memory.terms.end() ? 0.0 : term->bytes.si();
  };
  CHECK(activations(scenario) == close_to(activations(llama(0)) * 20 / 80));
}

TEST_CASE("gradients of adapters alone cross the data axis") {
  Scenario scenario = llama(16);
  test::spread(scenario, 1, 4, 2);
  const double carried = test::sum_over_step(
      lower(scenario), [](const Op& op) { return test::payload(op, Axis::data); });
  CHECK(carried == close_to(trained_parameters(scenario) * 4));
}

TEST_CASE("an optimizer's traffic follows from its moves") {
  Scenario scenario = llama(0);
  const double parameters = trained_parameters(scenario);
  UpdateWork& work = scenario.training.optimizer.update;
  CHECK(update_traffic(scenario) == close_to(parameters * (4 + 2 * 4 + 2 * 8 + 2)));
  // LAMB: the update takes the gradient's place, and norms read both again.
  work.gradient_moves = 4;
  work.weight_moves = 4;
  scenario.training.optimizer.matrices = work;
  CHECK(update_traffic(scenario) == close_to(parameters * (4 * 4 + 4 * 4 + 2 * 8 + 2)));
}

TEST_CASE("a factored state has a value per row and column") {
  Scenario scenario = llama(0);
  scenario.training.optimizer.states = {{.name = "variance", .shape = StateShape::factored}};
  const Trained layer = trained_in_layer(scenario, LayerKind::dense);
  const double edges = (8192 + 8192) * 2 + (8192 + 1024) * 2 + (8192 + 28672) * 3;
  CHECK(layer.factors.total() == close_to(edges + 2 * 8192));
}

TEST_CASE("Newton-Schulz rounds take 4 m²n + 2 m³ FLOP on whole matrices, shared out by ZeRO") {
  Scenario scenario = llama(0);
  scenario.training.optimizer.orthogonalise.rounds = 5;
  const auto one = [](double m, double n) { return 4.0 * m * m * n + 2.0 * m * m * m; };
  const double layer = 2 * one(8192, 8192) + 2 * one(1024, 8192) + 3 * one(8192, 28672);
  CHECK(named_flops(scenario, "Newton-Schulz") == close_to(80.0 * 5 * layer));
  test::spread(scenario, 2, 8, 1);
  CHECK(named_flops(scenario, "Newton-Schulz") == close_to(80.0 * 5 * layer));
  scenario.plan.zero = 1;
  CHECK(named_flops(scenario, "Newton-Schulz") == close_to(10.0 * 5 * layer));
}

TEST_CASE("an optimizer on the host sends gradients out and gets weights back") {
  Scenario scenario = with_host(llama(0));
  test::spread(scenario, 1, 4, 1);
  scenario.plan.zero = 2;
  scenario.plan.offload.optimizer = Tier::host;
  const double share = trained_parameters(scenario) / 4;
  CHECK(host_bytes(scenario, HostWork::What::to_host) == close_to(share * 4));
  CHECK(host_bytes(scenario, HostWork::What::from_host) == close_to(share * 2));
  CHECK(host_bytes(scenario, HostWork::What::update) == close_to(share * (30 + 4)));
  const MemoryFootprint memory = memory_footprint(scenario);
  CHECK(memory.host.si() == close_to(share * (12 + 4)));
  CHECK(std::ranges::find(memory.terms, "optimizer states", &MemoryTerm::name) ==
        memory.terms.end());
}

TEST_CASE("activations leave after forward and come back before backward") {
  Scenario scenario = with_host(llama(0));
  scenario.plan.offload.activations = Tier::host;
  const double out = host_bytes(scenario, HostWork::What::to_host);
  CHECK(out > 0.0);
  CHECK(host_bytes(scenario, HostWork::What::from_host) == close_to(out));
  CHECK(memory_footprint(scenario).host.si() == close_to(out));
}
