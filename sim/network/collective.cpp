#include "network/collective.hpp"

#include "base/bug.hpp"
#include "network/algorithms.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

LinkScale scale_for(const LinkGraph& graph, LinkClassId id, const ResourceScale& scale) {
  if (scale.links.empty()) return {};
  return scale.link(graph.link_classes()[id.at()].id);
}

const CollectiveForm* believed_fastest(const std::vector<CollectiveForm>& forms, Bytes payload) {
  const CollectiveForm* best = nullptr;
  Seconds least;
  for (const CollectiveForm& form : forms) {
    if (!form.belief) continue;
    const Seconds expected = form.belief->latency + form.belief->busiest * payload;
    if (best != nullptr && !(expected < least)) continue;
    best = &form;
    least = expected;
  }
  return best;
}

bool always(CollectiveKind) {
  return true;
}
bool never(CollectiveKind) {
  return false;
}
/// NCCL broadcasts and reduces by ring alone.
bool for_all_reduce(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce;
}

} // namespace

std::string_view name_of(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_reduce:
    return "all_reduce";
  case CollectiveKind::all_gather:
    return "all_gather";
  case CollectiveKind::reduce_scatter:
    return "reduce_scatter";
  case CollectiveKind::all_to_all:
    return "all_to_all";
  case CollectiveKind::broadcast:
    return "broadcast";
  case CollectiveKind::reduce:
    return "reduce";
  case CollectiveKind::send_recv:
    return "send_recv";
  }
  throw Bug("unknown collective");
}

const std::vector<CollectiveAlgorithm>& collective_algorithms() {
  static const std::vector<CollectiveAlgorithm> table{
      {"torus", always, torus_forms},
      {"ring", always, ring_forms},
      {"tree", for_all_reduce, tree_forms},
      {"in-switch", for_all_reduce, in_switch_forms},
      {"direct", always, direct_forms},
      {"all-pairs", always, all_pairs_forms},
      {"hierarchical", never, hierarchical_forms},
      {"halving-doubling", never, halving_doubling_forms},
      {"multicast", never, multicast_forms}};
  return table;
}

std::vector<CollectiveForm> collective_forms(const LinkGraph& graph, Router& router,
                                             CollectiveKind kind, GroupFamily family,
                                             std::string_view algorithm) {
  std::vector<CollectiveForm> forms;
  if (family.size <= 1) return forms;
  for (const CollectiveAlgorithm& row : collective_algorithms()) {
    const bool wanted = algorithm == automatic_choice ? row.automatic(kind) : row.name == algorithm;
    if (!wanted) continue;
    const std::vector<CollectiveForm> some = row.forms(graph, router, kind, family);
    forms.insert(forms.end(), some.begin(), some.end());
    // A compiler for tori uses nothing else, and rings in rank order make no sense on them.
    if (row.name == "torus" && !forms.empty()) break;
  }
  return forms;
}

CollectiveTime time_of(const CollectiveForm& form, Bytes payload, const LinkGraph& graph,
                       const ResourceScale& scale) {
  const double start = scale_for(graph, form.launch_class, scale).latency;
  CollectiveTime result;
  result.form = &form;
  result.latency = form.launch / start;
  SecondsPerByte busiest, most; // of all stages, of the slowest
  SecondsPerByte stage;
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    const LinkTerm& term = form.terms[i];
    if (i > 0 && term.stage != form.terms[i - 1].stage) {
      busiest += stage;
      stage = {};
    }
    const LinkScale link = scale_for(graph, term.link_class, scale);
    result.latency += term.latency / link.latency;
    const SecondsPerByte here = term.busiest / link.bandwidth;
    stage = std::max(stage, here);
    if (here > most) {
      most = here;
      result.binding = term.edge;
    }
  }
  busiest += stage;
  const Seconds steady = busiest * payload;
  const Seconds fill{std::sqrt((form.fill / start).si() * steady.si())};
  const Seconds local = form.local / scale_for(graph, form.local_class, scale).bandwidth * payload;
  result.steady = steady;
  result.time = result.latency + steady + fill + local;
  return result;
}

CollectiveTime fastest(const std::vector<CollectiveForm>& forms, Bytes payload,
                       const LinkGraph& graph, const ResourceScale& scale) {
  CollectiveTime best;
  const CollectiveForm* chosen = believed_fastest(forms, payload);
  for (const CollectiveForm& form : forms) {
    if (form.belief && form.algorithm != chosen->algorithm) continue;
    const CollectiveTime time = time_of(form, payload, graph, scale);
    if (best.form == nullptr || time.time < best.time) best = time;
  }
  return best;
}

BytesPerSecond bus_bandwidth(CollectiveKind kind, int ranks, Bytes payload, Seconds time) {
  const double n = ranks;
  double factor = 1.0;
  if (kind == CollectiveKind::all_reduce) factor = 2.0 * (n - 1) / n;
  if (kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
      kind == CollectiveKind::all_to_all) {
    factor = (n - 1) / n;
  }
  return payload / time * factor;
}

} // namespace clustersim
