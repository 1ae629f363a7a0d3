#include "engine/cost_model.hpp"

#include "base/bug.hpp"
#include "engine/host_copy.hpp"

#include <algorithm>
#include <cmath>

namespace clustersim {

namespace {

/// Power-capped boards of one job differ; the slowest paces all. Measured growth is logarithmic in
/// the number of chips beyond one node (docs/explanation/straggler.md).
double straggler_factor(int chips, double per_doubling) {
  constexpr double one_node = 8.0;
  return 1.0 + per_doubling * std::max(0.0, std::log2(chips / one_node));
}

/// Every byte on the wire is read from memory before and written after. What the links themselves
/// draw is not published, and left out.
Joules communication_energy(const Collective& op, Seconds time, const EnergyRates& rates) {
  if (time.si() <= 0.0) return {};
  const Bytes sent = bus_bandwidth(op.kind, op.family.size, op.payload, time) * time;
  return std::min(2.0 * sent * rates.dram, (rates.limit - rates.idle) * time) * op.calls;
}

/// Streams of the cores of all sockets together.
BytesPerSecond core_bandwidth(const Node::Host& host) {
  if (host.dram.si() > 0.0) return host.dram;
  return host.memory.bandwidth * (host.memory.achieved_fraction * host.sockets);
}

} // namespace

Network::Network(const Cluster& cluster) : graph(build_link_graph(cluster)), router(graph) {}

const std::vector<CollectiveForm>& Network::forms(CollectiveKind kind, GroupFamily family) {
  const auto key = std::pair{kind, family};
  const auto known = forms_.find(key);
  if (known != forms_.end()) {
    return known->second;
  }
  return forms_.emplace(key, collective_forms(graph, router, kind, family)).first->second;
}

const HostCopy& Network::host_copy(bool to_host) {
  const auto known = copies_.find(to_host);
  return known != copies_.end()
             ? known->second
             : copies_.emplace(to_host, copy_between_host(graph, router, to_host)).first->second;
}

CostModel::CostModel(const Scenario& scenario, Network& network, const ResourceScale& scale)
    : device_(make_device(scenario.chip(), scenario.training.stack, scenario.power, scale)),
      network_(&network), scale_(scale), host_(scenario.training.stack.host),
      machine_(scenario.partition().node.host), chips_(scenario.partition().node.chips_of_host()),
      tax_(scenario.training.stack.overlap.tax),
      straggler_(straggler_factor(scenario.cluster.chips(),
                                  scenario.training.stack.straggler_per_doubling)) {
  host_.per_operator /= scale.host;
  if (scenario.training.stack.launch == LaunchMode::graph) {
    host_.per_operator = Seconds{0}; // one launch replays the whole step
  }
}

KernelTime CostModel::kernel_time(const Work& work) {
  if (const auto* gemm = std::get_if<GemmShape>(&work)) {
    const auto known = gemms_.find(*gemm);
    return known != gemms_.end()
               ? known->second
               : gemms_.emplace(*gemm, gemm_time(*gemm, device_).time).first->second;
  }
  if (const auto* attention = std::get_if<AttentionShape>(&work)) {
    return attention_time(*attention, device_);
  }
  if (const auto* memory = std::get_if<MemoryKernel>(&work)) {
    return memory_kernel_time(*memory, device_);
  }
  throw Bug("not a kernel");
}

Seconds CostModel::host_work(const HostWork& work) const {
  switch (work.what) {
  case HostWork::What::to_host:
  case HostWork::What::from_host: {
    SecondsPerByte busiest;
    Seconds latency;
    for (const HostCopy::Term& term :
         network_->host_copy(work.what == HostWork::What::to_host).terms) {
      const LinkScale link = scale_.link(term.link);
      busiest = std::max(busiest, term.busiest / link.bandwidth);
      latency += term.latency / link.latency;
    }
    return latency + busiest * work.bytes;
  }
  case HostWork::What::read_drive:
    return work.bytes * chips_ / (machine_.nvme_read * scale_.link(local_drives).bandwidth);
  case HostWork::What::write_drive:
    return work.bytes * chips_ / (machine_.nvme_write * scale_.link(local_drives).bandwidth);
  case HostWork::What::update:
    return work.bytes * chips_ /
           (core_bandwidth(machine_) * scale_.link(machine_.memory.id).bandwidth);
  }
  throw Bug("unknown work of a host");
}

Seconds CostModel::host_time(const Op& op) const {
  const double phase = op.phase == Phase::backward ? host_.backward_factor : 1.0;
  double operators = 1.0;
  if (const auto* collective = std::get_if<Collective>(&op.work)) {
    operators = host_.per_collective * collective->calls;
  } else if (const auto* memory = std::get_if<MemoryKernel>(&op.work)) {
    operators = memory->kernels;
  }
  return host_.per_operator * (phase * operators);
}

OpTime CostModel::time(const Op& op) {
  OpTime result;
  if (std::holds_alternative<Join>(op.work)) {
    return result;
  }
  result.host = host_time(op);
  if (const auto* work = std::get_if<HostWork>(&op.work)) {
    result.device = host_work(*work);
    return result;
  }
  if (const auto* collective = std::get_if<Collective>(&op.work)) {
    const auto known = collectives_.find(*collective);
    if (known != collectives_.end()) {
      result.collective = known->second;
    } else {
      result.collective = fastest(network_->forms(collective->kind, collective->family),
                                  collective->payload, network_->graph, scale_);
      collectives_.emplace(*collective, result.collective);
    }
    result.device = result.collective.time * collective->calls;
    result.work = communication_energy(*collective, result.collective.time, device_.energy);
  } else {
    result.kernel = kernel_time(op.work);
    result.device = result.kernel.total;
    result.work = result.kernel.energy - device_.energy.idle * result.kernel.total;
  }
  return result;
}

} // namespace clustersim
