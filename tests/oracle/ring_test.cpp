// All-reduce of a known size by hand, as in docs/explanation/collectives.md.

#include "network/collective.hpp"

#include "support/close_to.hpp"
#include "support/scenarios.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace clustersim;
using clustersim::test::close_to;

namespace {

/// The steady part of a form: what is left when only the busiest link counts.
SecondsPerByte busiest(const CollectiveForm& form) {
  SecondsPerByte most;
  for (const LinkTerm& term : form.terms) {
    most = std::max(most, term.busiest);
  }
  return most;
}

SecondsPerByte best_bulk(const std::vector<CollectiveForm>& forms, std::string_view algorithm) {
  SecondsPerByte best{1e9};
  for (const CollectiveForm& form : forms) {
    if (form.algorithm == algorithm && form.protocol == "bulk") {
      best = std::min(best, busiest(form));
    }
  }
  return best;
}

} // namespace

TEST_CASE("ring all-reduce on NVSwitch: 2(n-1)/n of the buffer through every port") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  const Node& node = scenario.cluster.partitions.front().node;
  const BytesPerSecond port = node.scale_up.link.bandwidth * node.scale_up.links_per_chip *
                              node.scale_up.link.achieved_fraction;
  const LinkGraph graph = build_link_graph(scenario.cluster);
  Router router(graph);
  const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {8, 1});
  CHECK((best_bulk(forms, "ring") * port) == close_to(2.0 * 7 / 8));
}

TEST_CASE("ring all-reduce over InfiniBand: the same, through one NIC per chip") {
  const Scenario scenario = test::shipped_scenario("dgx_h100");
  const Node& node = scenario.cluster.partitions.front().node;
  const BytesPerSecond nic = node.nics.link.bandwidth * node.nics.link.achieved_fraction;
  const LinkGraph graph = build_link_graph(scenario.cluster);
  Router router(graph);
  // Data parallelism over 16 nodes, one ring per rail: rank i of every node.
  const auto forms = collective_forms(graph, router, CollectiveKind::all_reduce, {16, 8});
  CHECK((best_bulk(forms, "ring") * nic) == close_to(2.0 * 15 / 16));
}
