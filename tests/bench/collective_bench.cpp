// All-reduce of 1 GB over 8 to 100,000 chips of DGX H100: the graph, its routes, all algorithms,
// the fastest. Peak memory of the process beside each. Each size is to take less than 50 ms and 1
// GiB.

#include "base/diagnostic.hpp"
#include "network/collective.hpp"
#include "spec/catalogue.hpp"

#include <benchmark/benchmark.h>
#include <stdexcept>
#include <sys/resource.h>

namespace clustersim {
namespace {

Cluster machine(int nodes) {
  static const Catalogue catalogue({CLUSTERSIM_SOURCE_DIR});
  Diagnostics out;
  const auto node = load_node(catalogue, "dgx-h100", out);
  const auto fabric = load_fabric(catalogue, "rail-optimized-ndr", out);
  if (!node || !fabric) throw std::runtime_error(render(out, false));
  Cluster cluster;
  cluster.partitions.push_back({*node, nodes, nodes > 1 ? *fabric : Fabric{}});
  return cluster;
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void collective(benchmark::State& state, CollectiveKind kind) {
  const auto chips = static_cast<int>(state.range(0));
  const Cluster cluster = machine(chips / 8);
  for (auto _ : state) {
    const LinkGraph graph = build_link_graph(cluster);
    Router router(graph);
    const auto forms = collective_forms(graph, router, kind, {chips, 1});
    benchmark::DoNotOptimize(fastest(forms, Bytes{1e9}, graph).time);
  }
  state.counters["peak_MiB"] = peak_mebibytes();
}

void all_reduce(benchmark::State& state) {
  collective(state, CollectiveKind::all_reduce);
}
void all_to_all(benchmark::State& state) {
  collective(state, CollectiveKind::all_to_all);
}
BENCHMARK(all_reduce)->Unit(benchmark::kMillisecond)->Arg(8)->Arg(64)->Arg(512)->Arg(4096);
BENCHMARK(all_reduce)->Unit(benchmark::kMillisecond)->Arg(65'536)->Arg(100'000);
BENCHMARK(all_to_all)->Unit(benchmark::kMillisecond)->Arg(65'536);

} // namespace
} // namespace clustersim

BENCHMARK_MAIN();
